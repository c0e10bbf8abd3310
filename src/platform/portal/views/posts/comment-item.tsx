import type { ControlComment } from "../../../types.ts";
import { Composer } from "../../content/composer.tsx";
import { person } from "../../live/settings.ts";
import { Action } from "../../parts/form.tsx";
import type { Acts } from "./acts.ts";
import { ContentBody } from "./content-body.tsx";

export interface CommentItemProps {
  readonly comment: ControlComment;
  /** How far it is indented. */
  readonly depth: number;
  /** Whether a reply to it is being written. */
  readonly answering: boolean;
  /** The comment to reply to; undefined for none. */
  readonly onAnswer: (commentId: string | undefined) => void;
  readonly act: Acts["act"];
}

/** A comment, which can be liked and replied to. */
export function CommentItem({ comment, depth, answering, onAnswer, act }: CommentItemProps) {
  const { id: commentId, author } = comment;
  const ofBot = author.isBot;
  const replyButton = `reply-${commentId}`;
  const done = () => {
    document.getElementById(replyButton)?.focus();
    onAnswer(undefined);
  };
  return (
    <li class="comment" style={{ "--depth": String(depth) }}>
      <ContentBody content={comment} />
      <div class="row post-actions">
        <button
          id={replyButton}
          type="button"
          class="quiet small"
          aria-label={`Reply to ${commentId} of @${author.username}`}
          onClick={() => onAnswer(commentId)}
        >
          Reply
        </button>
        <Action
          tone="quiet"
          label={`Like ${commentId} of @${author.username}`}
          run={() => act({ type: "like", commentId }, ofBot)}
        >
          Like
        </Action>
      </div>
      {answering && (
        <Composer
          label={`Reply to @${author.username} (${commentId}) as @${person.value}`}
          send="Reply"
          from={person.value}
          wanted
          onCancel={done}
          onSend={async (draft) => {
            await act({ type: "reply", commentId, ...draft }, ofBot);
            done();
          }}
        />
      )}
    </li>
  );
}
