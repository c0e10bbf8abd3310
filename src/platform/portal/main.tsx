import { render } from "preact";
import { App } from "./app.tsx";
import { listenToKeys } from "./keys/keys.ts";
import { followPlatform } from "./live/stream.ts";

followPlatform();
listenToKeys();
// A file dropped on a composer or drop zone is added to its file field. A file dropped anywhere else would make the
// browser leave the page to open the file.
for (const name of ["dragover", "drop"] as const) {
  addEventListener(name, (event) => {
    const { dataTransfer, target } = event;
    if (dataTransfer?.types.includes("Files") !== true) return;
    event.preventDefault();
    const place = target instanceof Element ? target.closest(".composer, .drop-zone") : null;
    const field = place?.querySelector<HTMLInputElement>("input[type=file]") ?? undefined;
    dataTransfer.dropEffect = field === undefined ? "none" : "copy";
    if (name === "dragover" || field === undefined) return;
    field.files = dataTransfer.files;
    field.dispatchEvent(new Event("change"));
  });
}
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
