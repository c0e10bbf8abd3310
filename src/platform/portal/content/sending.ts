import { useState } from "preact/hooks";
import { control } from "../api/control.ts";
import { attempt } from "../parts/toast.tsx";
import type { Attachments } from "./attachments.ts";

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
  readonly send: () => Promise<void>;
}

/** A text on its way to be sent with its images. What could not be sent stays. */
export function useSending({ name, from, attachments, onSend }: SendingOptions): Sending {
  const [text, show] = useState(kept.get(name) ?? "");
  const [busy, setBusy] = useState(false);
  const { items, remove } = attachments;
  const empty = text.trim() === "" && items.length === 0;
  const setText = (now: string) => {
    if (now === "") kept.delete(name);
    else kept.set(name, now);
    show(now);
  };
  const send = async () => {
    if (busy || empty) return;
    setBusy(true);
    setText("");
    const sent = await attempt(async () => {
      const imageKeys: string[] = [];
      for (const { file } of items) imageKeys.push((await control.uploadImage(file, from)).key);
      await onSend(imageKeys.length === 0 ? { text } : { text, imageKeys });
    });
    setBusy(false);
    if (sent) remove(items.map(({ id }) => id));
    // Behind it stands what was typed meanwhile.
    else setText([text, kept.get(name) ?? ""].filter(Boolean).join("\n"));
  };
  return { text, setText, busy, empty, send };
}
