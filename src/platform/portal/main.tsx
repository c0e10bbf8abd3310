import { render } from "preact";
import { App } from "./app.tsx";
import { listenToKeys } from "./keys/keys.ts";
import { followPlatform } from "./live/stream.ts";

followPlatform();
listenToKeys();
// A file that is dropped beside a place for it would be opened instead of the page, and what is written be lost.
for (const name of ["dragover", "drop"] as const) {
  addEventListener(name, (event) => {
    if (event.defaultPrevented || event.dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "none";
  });
}
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
