import { useEffect, useRef, useState } from "preact/hooks";

/** Images of one text (section 8). */
const MAX_IMAGES = 4;

/** The largest image, in bytes: what the platform takes as 5 MB. */
const MAX_BYTES = 5 * 1024 * 1024;

/** What the platform takes (section 4). */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"];

export interface Attachment {
  readonly id: number;
  readonly file: File;
  /** An address that this page alone knows. */
  readonly preview: string;
}

export interface Attachments {
  readonly items: readonly Attachment[];
  /** Why some of the last files were not taken. */
  readonly refused: readonly string[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (id: number) => void;
  /** Takes all of them away to be sent; those that could not be sent come back. */
  readonly take: () => readonly Attachment[];
  readonly putBack: (taken: readonly Attachment[]) => void;
}

/** The images that go with a text, before they are sent. */
export function useAttachments(): Attachments {
  const [items, setItems] = useState<readonly Attachment[]>([]);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const count = useRef(0);
  const current = useRef(items);
  current.current = items;
  useEffect(() => () => forget(current.current), []);
  const add = (files: Iterable<File>) => {
    const { taken, refused: reasons } = sift([...files], MAX_IMAGES - items.length);
    setRefused(reasons);
    const fresh = taken.map((file) => {
      count.current += 1;
      return { id: count.current, file, preview: URL.createObjectURL(file) };
    });
    setItems((before) => [...before, ...fresh]);
  };
  const remove = (gone: number) => {
    setRefused([]);
    forget(items.filter(({ id }) => id === gone));
    setItems((before) => before.filter(({ id }) => id !== gone));
  };
  const take = () => {
    setRefused([]);
    setItems([]);
    return items;
  };
  const putBack = (taken: readonly Attachment[]) => {
    setItems((before) => [...taken, ...before].slice(0, MAX_IMAGES));
  };
  return { items, refused, add, remove, take, putBack };
}

/** Frees what their previews take. */
export function forget(items: readonly Attachment[]): void {
  for (const { preview } of items) URL.revokeObjectURL(preview);
}

/** What the platform would refuse is refused before it is sent. @param room for so many */
function sift(files: readonly File[], room: number): { taken: File[]; refused: string[] } {
  const refused = files.flatMap((file) => {
    const reason = refusal(file);
    return reason === undefined ? [] : [`${file.name}: ${reason}`];
  });
  const fitting = files.filter((file) => refusal(file) === undefined);
  if (fitting.length > room) {
    const names = fitting.slice(room).map(({ name }) => name);
    refused.push(`At most ${MAX_IMAGES} images go with a text; not taken: ${names.join(", ")}`);
  }
  return { taken: fitting.slice(0, room), refused };
}

function refusal({ type, size }: File): string | undefined {
  if (!IMAGE_TYPES.includes(type)) {
    return `${type || "a file of an unknown type"} is not taken. Choose a PNG, JPEG, WebP, GIF or AVIF image.`;
  }
  if (size === 0) return "it is empty.";
  if (size > MAX_BYTES) {
    return `${(size / 1024 / 1024).toFixed(1)} MB is too large. Choose an image of at most 5 MB.`;
  }
  return undefined;
}
