import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { FileButton } from "../parts/file-button.tsx";
import { AttachmentList } from "./attachment-list.tsx";
import { useAttachments } from "./attachments.ts";
import { useDropZone } from "./drop-zone.ts";
import { IMAGE_TYPES } from "./image-files.ts";
import { type SendingOptions, useSending } from "./sending.ts";

export interface ComposerProps extends Omit<SendingOptions, "name" | "attachments"> {
  /** What it is for: the name of its text field. */
  readonly label: string;
  /** What the button says. */
  readonly send: string;
  readonly placeholder?: string;
  /** When this becomes true, it takes the focus. */
  readonly wanted?: boolean;
  readonly onFocused?: () => void;
  /** It can be given up, by its button and by Escape. */
  readonly onCancel?: () => void;
}

/** Where somebody writes a text, with up to four images. */
export function Composer(props: ComposerProps) {
  const { label, from, onSend, wanted = false, onFocused, onCancel } = props;
  const form = useRef<HTMLFormElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const attachments = useAttachments();
  const sending = useSending({ name: label, from, attachments, onSend });
  useDropZone(form, attachments.add);
  // Before anything more is typed.
  useLayoutEffect(() => {
    if (!wanted) return;
    field.current?.focus();
    onFocused?.();
  }, [wanted]);
  return (
    <form
      ref={form}
      class="composer"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        sending.send();
        // From the button, too: what is typed next is text, and no key.
        field.current?.focus();
      }}
    >
      <AttachmentList attachments={attachments} />
      <textarea
        ref={field}
        rows={2}
        value={sending.text}
        placeholder={props.placeholder}
        aria-label={label}
        aria-describedby={hint}
        onInput={({ currentTarget }) => sending.setText(currentTarget.value)}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          attachments.add(files);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape" && onCancel !== undefined) {
            event.preventDefault();
            onCancel();
          }
          // Enter also ends the choice of a character, where one is made of several keys.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          sending.send();
        }}
      />
      <div class="row">
        <button
          type="submit"
          class="primary"
          aria-disabled={sending.empty}
          aria-busy={sending.busy}
        >
          {props.send}
        </button>
        <FileButton
          label="Add images"
          name="Images"
          accept={IMAGE_TYPES.join(",")}
          multiple
          onFiles={attachments.add}
        />
        {onCancel !== undefined && (
          <button type="button" class="quiet" onClick={onCancel}>
            Cancel
          </button>
        )}
        <p class="hint" id={hint}>
          <kbd>Enter</kbd> sends. Drop or paste images.
        </p>
      </div>
    </form>
  );
}
