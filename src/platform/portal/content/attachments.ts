import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_IMAGES, sift } from "./image-files.ts";

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
