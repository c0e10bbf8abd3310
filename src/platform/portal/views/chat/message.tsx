import { useId } from "preact/hooks";
import type { MessageView } from "../../../types.ts";
import { Images } from "../../content/images.tsx";
import { BotLabel, Time } from "../../parts/bits.tsx";

export interface MessageProps {
  readonly message: MessageView;
  /** The message that it answers, where that is shown. */
  readonly answered: MessageView | undefined;
  readonly isOwn: boolean;
  /** The one message of the log that Tab reaches; the arrows go on from there. */
  readonly reached: boolean;
  readonly onReach: () => void;
  readonly onDelete: () => void;
}

/** Section 2: a deleted message keeps its place, without its text and its images. */
function isDeleted({ text, images }: Pick<MessageView, "text" | "images">): boolean {
  return text === "" && images.length === 0;
}

/** A message as a bubble. */
export function Message({ message, answered, isOwn, reached, onReach, onDelete }: MessageProps) {
  const { id, authorUsername, fromBot, text, images, createdAt } = message;
  const head = useId();
  const tabIndex = reached ? 0 : -1;
  const deleted = isDeleted(message);
  return (
    <li class={isOwn ? "message own" : "message"}>
      <article
        tabIndex={tabIndex}
        data-item={id}
        aria-labelledby={head}
        aria-keyshortcuts={deleted ? undefined : "Delete"}
        onFocusCapture={onReach}
        onKeyDown={(event) => {
          if (event.key !== "Delete" || deleted) return;
          event.preventDefault();
          onDelete();
        }}
      >
        <p class="message-head" id={head}>
          @{authorUsername} {fromBot && <BotLabel />} <Time at={createdAt} />
        </p>
        {answered !== undefined && (
          <p class="answered">
            to @{answered.authorUsername}: {answered.text || "…"}
          </p>
        )}
        {deleted ? <p class="deleted">deleted</p> : <p class="message-text">{text}</p>}
        <Images images={images} by={authorUsername} />
      </article>
      {!deleted && (
        <button
          type="button"
          class="quiet small"
          tabIndex={tabIndex}
          aria-label={`Delete the message of @${authorUsername}: ${text.slice(0, 40)}`}
          title="Delete this message (key Delete)"
          onClick={onDelete}
        >
          ✕
        </button>
      )}
    </li>
  );
}
