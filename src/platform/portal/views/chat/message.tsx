import { useId } from "preact/hooks";
import type { MessageView } from "../../../types.ts";
import { Images } from "../../content/images.tsx";
import { BotLabel, Time } from "../../parts/bits.tsx";
import { Icon } from "../../parts/icon.tsx";

export interface MessageProps {
  readonly message: MessageView;
  /** The message that it answers, if that is shown. */
  readonly answered: MessageView | undefined;
  readonly isOwn: boolean;
  /** True if the message before is of the same author. */
  readonly isSameAuthor: boolean;
  /** The one message of the log that Tab reaches; the arrows go on from there. */
  readonly reached: boolean;
  readonly onReach: () => void;
  readonly onDelete: () => void;
}

/** A message as a bubble. */
export function Message(props: MessageProps) {
  const { message, answered, isOwn, isSameAuthor, reached, onReach, onDelete } = props;
  const { id, authorUsername, fromBot, text, images, createdAt } = message;
  const head = useId();
  const tabIndex = reached ? 0 : -1;
  // Section 2: a deleted message keeps its place, without its text and its images.
  const deleted = text === "" && images.length === 0;
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
        <p class={isSameAuthor ? "visually-hidden" : "message-head"} id={head}>
          @{authorUsername} {fromBot && <BotLabel />} <Time at={createdAt} />
        </p>
        {answered !== undefined && !isOwn && (
          <p class="answered">
            @{answered.authorUsername}: {answered.text || "…"}
          </p>
        )}
        {deleted ? <p class="hint">deleted</p> : <p class="text">{text}</p>}
        <Images images={images} by={authorUsername} />
      </article>
      {!deleted && (
        <button
          type="button"
          class="quiet small"
          tabIndex={tabIndex}
          aria-label={`Delete the message of @${authorUsername}: ${text.slice(0, 40)}`}
          title="Delete"
          onClick={onDelete}
        >
          <Icon name="trash" />
        </button>
      )}
    </li>
  );
}
