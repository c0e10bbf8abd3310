import { useState } from "preact/hooks";
import type { ImageView } from "../../types.ts";
import { Dialog } from "../parts/dialog.tsx";

export type Image = Omit<ImageView, "thumbUrl"> & Partial<Pick<ImageView, "thumbUrl">>;

export interface ImagesProps {
  readonly images: readonly Image[];
  readonly by: string;
}

export function Images({ images, by }: ImagesProps) {
  const [open, setOpen] = useState<number>();
  const shown = images[open ?? -1];
  const turn = (step: number) => setOpen((at = 0) => (images[at + step] ? at + step : at));
  const nameOf = (index: number) =>
    images.length === 1 ? `image by @${by}` : `image ${index + 1} of ${images.length} by @${by}`;
  if (images.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of its buttons and of the dialog
    <div
      class="images"
      onKeyDown={(event) => {
        if (shown === undefined) return;
        event.stopPropagation();
        if (event.key === "ArrowRight") turn(1);
        if (event.key === "ArrowLeft") turn(-1);
      }}
    >
      {images.map(({ url, thumbUrl, width, height }, index) => (
        <button
          key={url}
          type="button"
          aria-label={`Open ${nameOf(index)}`}
          onClick={() => setOpen(index)}
        >
          <img src={pathOf(thumbUrl ?? url)} alt="" loading="lazy" width={width} height={height} />
        </button>
      ))}
      {shown !== undefined && open !== undefined && (
        <Dialog title={nameOf(open).replace("i", "I")} onClose={() => setOpen(undefined)} wide>
          <img
            class="large-image"
            src={pathOf(shown.url)}
            alt={nameOf(open)}
            width={shown.width}
            height={shown.height}
          />
          <div class="row">
            <button type="button" disabled={open === 0} onClick={() => turn(-1)}>
              Previous <kbd>←</kbd>
            </button>
            <button type="button" disabled={open === images.length - 1} onClick={() => turn(1)}>
              Next <kbd>→</kbd>
            </button>
            <span class="hint">
              {shown.width} × {shown.height} pixels
            </span>
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Returns only the path, because the page may be open under a host name other than the platform's own. */
function pathOf(url: string): string {
  return new URL(url).pathname;
}
