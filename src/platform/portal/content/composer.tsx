import { type Signal, signal } from "@preact/signals";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { control } from "../api/control.ts";
import { Failure } from "../parts/bits.tsx";
import { FileButton } from "../parts/file-button.tsx";
import { Icon } from "../parts/icon.tsx";
import { attempt } from "../parts/toast.tsx";
import { IMAGE_TYPES, MAX_IMAGES, sift } from "./image-files.ts";

interface Draft {
  readonly text: string;
  readonly images: readonly File[];
}

const EMPTY: Draft = { text: "", images: [] };

/** Unsent drafts by composer label. Kept when the user switches views. */
const drafts = new Map<string, Signal<Draft>>();

export const focusWanted = signal(false);

export interface ComposerProps {
  /** Accessible name of the form and its text field. */
  readonly label: string;
  readonly send: string;
  readonly placeholder: string;
  readonly from: string;
  readonly onSend: (content: { text: string; imageKeys?: readonly string[] }) => Promise<unknown>;
  /** Closes the composer. A composer with this callback takes the focus when it appears. */
  readonly onCancel?: () => void;
}

export function Composer(props: ComposerProps) {
  const { label, send, placeholder, onCancel } = props;
  const { draft, isEmpty, refused, add, submit } = useDraft(props);
  const { text, images } = draft.value;
  const field = useRef<HTMLTextAreaElement>(null);
  const hint = useId();
  const isWanted = onCancel !== undefined || focusWanted.value;
  useLayoutEffect(() => {
    if (!isWanted) return;
    field.current?.focus();
    focusWanted.value = false;
  }, [isWanted]);
  return (
    <form
      class="composer"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
        // Move the focus back, so that letters typed after a click on the button are text instead of shortcuts.
        field.current?.focus();
      }}
    >
      <Attachments draft={draft} />
      {refused.length > 0 && <Failure error={new Error(refused.join("\n"))} />}
      <textarea
        ref={field}
        rows={2}
        value={text}
        placeholder={placeholder}
        aria-label={label}
        aria-describedby={hint}
        onInput={({ currentTarget }) => {
          draft.value = { text: currentTarget.value, images };
        }}
        onPaste={(event) => {
          const files = event.clipboardData?.files ?? [];
          if (files.length === 0) return;
          event.preventDefault();
          add(files);
        }}
        onKeyDown={(event) => {
          // During IME composition, Enter selects a character.
          const isSent = event.key === "Enter" && !event.shiftKey && !event.isComposing;
          const run = isSent ? submit : event.key === "Escape" ? onCancel : undefined;
          if (run === undefined) return;
          event.preventDefault();
          run();
        }}
      />
      <div class="row">
        <button type="submit" class="primary" aria-disabled={isEmpty}>
          {send}
        </button>
        <FileButton
          label="Add images"
          title="You can also paste or drop images"
          name="Images"
          accept={IMAGE_TYPES.join(",")}
          multiple
          onFiles={add}
        />
        {onCancel !== undefined && (
          <button type="button" class="quiet" onClick={onCancel}>
            Cancel
          </button>
        )}
        <p class="hint grow" id={hint}>
          <kbd>Enter</kbd> sends
        </p>
      </div>
    </form>
  );
}

function useDraft({ label, from, onSend }: ComposerProps) {
  const draft = drafts.get(label) ?? signal(EMPTY);
  drafts.set(label, draft);
  const { text, images } = draft.value;
  const isEmpty = text.trim() === "" && images.length === 0;
  const [refused, setRefused] = useState<readonly string[]>([]);
  const last = useRef(Promise.resolve());
  const add = (files: Iterable<File>) => {
    const { taken, refused: reasons } = sift([...files], MAX_IMAGES - draft.value.images.length);
    setRefused(reasons);
    draft.value = { ...draft.value, images: [...draft.value.images, ...taken] };
  };
  const deliver = async () => {
    const isSent = await attempt(async () => {
      const imageKeys: string[] = [];
      for (const image of images) imageKeys.push((await control.addImage(image, { from })).key);
      await onSend(imageKeys.length === 0 ? { text } : { text, imageKeys });
    });
    if (isSent) return;
    // Keep text and images that the user added in the meantime, after the unsent ones.
    draft.value = {
      text: [text, draft.value.text].filter(Boolean).join("\n"),
      images: [...images, ...draft.value.images].slice(0, MAX_IMAGES),
    };
  };
  const submit = () => {
    if (isEmpty) return;
    draft.value = EMPTY;
    setRefused([]);
    // Chain the uploads to keep the messages in order.
    last.current = last.current.then(deliver);
  };
  return { draft, isEmpty, refused, add, submit };
}

function Attachments({ draft }: { readonly draft: Signal<Draft> }) {
  const { text, images } = draft.value;
  if (images.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Images to send">
      {images.map((image, index) => (
        <li key={index}>
          <Preview image={image} />
          <span class="attachment-name">{image.name}</span>
          <button
            type="button"
            class="quiet small"
            aria-label={`Remove ${image.name}`}
            onClick={() => {
              draft.value = { text, images: images.toSpliced(index, 1) };
            }}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Preview({ image }: { readonly image: File }) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(image);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [image]);
  return <img src={url} alt="" width="48" height="48" />;
}
