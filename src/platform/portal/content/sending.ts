import { useRef, useState } from "preact/hooks";
import { control } from "../api/control.ts";
import { attempt } from "../parts/toast.tsx";
import { type Attachment, type Attachments, forget } from "./attachments.ts";

/** What is written, with the keys of its images, which are uploaded by then. */
export interface Draft {
  readonly text: string;
  readonly imageKeys?: readonly string[];
}

/** What was begun and not sent, by its name, so that looking elsewhere does not lose it. */
const kept = new Map<string, string>();

export interface SendingOptions {
  /** Under which name the text is kept until it is sent. */
  readonly name: string;
  /** Username of who writes. */
  readonly from: string;
  readonly attachments: Attachments;
  readonly onSend: (draft: Draft) => Promise<unknown>;
}

export interface Sending {
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly busy: boolean;
  readonly empty: boolean;
  readonly send: () => void;
}

/** A text on its way to be sent with its images. What could not be sent stays. */
export function useSending({ name, from, attachments, onSend }: SendingOptions): Sending {
  const [text, show] = useState(kept.get(name) ?? "");
  const [waiting, setWaiting] = useState(0);
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const empty = text.trim() === "" && attachments.items.length === 0;
  const setText = (now: string) => {
    if (now === "") kept.delete(name);
    else kept.set(name, now);
    show(now);
  };
  const deliver = async (items: readonly Attachment[]) => {
    const sent = await attempt(async () => {
      const imageKeys: string[] = [];
      for (const { file } of items) imageKeys.push((await control.uploadImage(file, from)).key);
      await onSend(imageKeys.length === 0 ? { text } : { text, imageKeys });
    });
    setWaiting((before) => before - 1);
    if (sent) return forget(items);
    attachments.putBack(items);
    // Behind it stands what was typed meanwhile.
    setText([text, kept.get(name) ?? ""].filter(Boolean).join("\n"));
  };
  const send = () => {
    if (empty) return;
    const items = attachments.take();
    setText("");
    setWaiting((before) => before + 1);
    // One after the other, so that what was written first is there first.
    last.current = last.current.then(() => deliver(items));
  };
  return { text, setText, busy: waiting > 0, empty, send };
}
