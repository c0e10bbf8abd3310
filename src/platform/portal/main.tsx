import { render } from "preact";
import { App } from "./app.tsx";
import { listenToKeys } from "./keys/keys.ts";
import { followPlatform } from "./live/stream.ts";

followPlatform();
listenToKeys();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
