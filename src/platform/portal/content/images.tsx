import { useLayoutEffect, useState } from "preact/hooks";
import type { ImageView } from "../../types.ts";
import { Dialog } from "../parts/dialog.tsx";

type Shown = Omit<ImageView, "thumbUrl"> & Partial<Pick<ImageView, "thumbUrl">>;

export interface ImagesProps {
  readonly images: readonly Shown[];
  /** Username of who has attached them. */
  readonly by: string;
}

/** The images of a text, small; each opens large. */
export function Images({ images, by }: ImagesProps) {
  const [open, setOpen] = useState<number>();
  if (images.length === 0) return null;
  return (
    <>
      <div class="images">
        {images.map((image, index) => (
          <button
            key={image.url}
            type="button"
            aria-label={`Open ${nameOf(index, images.length, by)}`}
            onClick={() => setOpen(index)}
          >
            {/* Its size is known before it is there, so that nothing moves when it comes. */}
            <img
              src={here(image.thumbUrl ?? image.url)}
              alt=""
              loading="lazy"
              {...fitted(image, images.length)}
            />
          </button>
        ))}
      </div>
      {open !== undefined && (
        <Viewer
          images={images}
          by={by}
          index={open}
          onTurn={setOpen}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

/** An image by its path alone: the platform names itself in its address, and may be looked at under another name. */
function here(url: string): string {
  return new URL(url).pathname;
}

/** The longest side of a small image in CSS pixels: of one alone, and of one of several. */
const ALONE = 300;
const BESIDE = 170;

function fitted({ width, height }: Shown, count: number): { width: number; height: number } {
  const scale = Math.min(1, (count === 1 ? ALONE : BESIDE) / Math.max(width, height));
  const size = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: size(width), height: size(height) };
}

function nameOf(index: number, count: number, by: string): string {
  return count === 1 ? `image of @${by}` : `image ${index + 1} of ${count} of @${by}`;
}

interface ViewerProps extends ImagesProps {
  readonly index: number;
  readonly onTurn: (index: number) => void;
  readonly onClose: () => void;
}

/** One image as large as the window allows; the arrow keys turn to the others. */
function Viewer({ images, by, index, onTurn, onClose }: ViewerProps) {
  const image = images[index];
  // From the moment that it is shown: a key may follow at once.
  useLayoutEffect(() => {
    const end = new AbortController();
    const turn = ({ key }: KeyboardEvent) => {
      const to = index + (key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0);
      if (to !== index && images[to] !== undefined) onTurn(to);
    };
    document.addEventListener("keydown", turn, { signal: end.signal });
    return () => end.abort();
  }, [index, images, onTurn]);
  if (image === undefined) return null;
  const name = nameOf(index, images.length, by);
  return (
    <Dialog title={name.replace(/^i/, "I")} onClose={onClose} wide>
      <img
        class="large-image"
        src={here(image.url)}
        alt={name}
        width={image.width}
        height={image.height}
      />
      <div class="row">
        {images.length > 1 && (
          <>
            <button type="button" disabled={index === 0} onClick={() => onTurn(index - 1)}>
              Previous <kbd>←</kbd>
            </button>
            <button
              type="button"
              disabled={index === images.length - 1}
              onClick={() => onTurn(index + 1)}
            >
              Next <kbd>→</kbd>
            </button>
          </>
        )}
        <span class="hint">
          {image.width} × {image.height} pixels
        </span>
      </div>
    </Dialog>
  );
}
