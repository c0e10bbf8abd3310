import { Failure } from "../parts/bits.tsx";
import type { Attachments } from "./attachments.ts";

/** The images that will be sent, each with its name, which is nothing but text, and what was not taken. */
export function AttachmentList({ attachments }: { readonly attachments: Attachments }) {
  const { items, refused, remove } = attachments;
  return (
    <>
      {items.length > 0 && (
        <ul class="attachments" aria-label="Images to send">
          {items.map(({ id, file, preview }) => (
            <li key={id}>
              <img src={preview} alt="" width="48" height="48" />
              <span class="attachment-name">{file.name}</span>
              <button
                type="button"
                class="quiet small"
                aria-label={`Remove ${file.name}`}
                onClick={() => remove(id)}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      {refused.length > 0 && <Failure error={new Error(refused.join("\n"))} />}
    </>
  );
}
