import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Takes files that are dropped around an element: on the closest `.drop-zone`, else on itself. */
export function useDropZone(
  inside: RefObject<HTMLElement | null>,
  onFiles: (files: readonly File[]) => void,
): void {
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const zone = inside.current?.closest<HTMLElement>(".drop-zone") ?? inside.current;
    if (zone === null) return;
    const end = new AbortController();
    const { signal } = end;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      // Without this the browser would leave the page and show the file.
      event.preventDefault();
      zone.dataset["dropping"] = "";
    };
    const leave = () => delete zone.dataset["dropping"];
    zone.addEventListener("dragover", over, { signal });
    zone.addEventListener("dragleave", leave, { signal });
    zone.addEventListener(
      "drop",
      (event) => {
        leave();
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        latest.current(files);
      },
      { signal },
    );
    return () => end.abort();
  }, [inside]);
}
