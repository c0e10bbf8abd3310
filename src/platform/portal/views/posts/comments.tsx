import { useState } from "preact/hooks";
import type { ControlPost, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { person } from "../../live/settings.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { Failure } from "../../parts/bits.tsx";
import type { Acts } from "./acts.ts";
import { CommentItem } from "./comment-item.tsx";
import { threaded } from "./threads.ts";

export interface CommentsProps {
  readonly post: ControlPost;
  readonly bot: Profile;
  readonly writing: "comment" | "mention" | undefined;
  /** After a comment was written, or given up. */
  readonly onWritten: () => void;
  readonly act: Acts["act"];
}

/** The comments on a post, each under the one that it answers. */
export function Comments({ post, bot, writing, onWritten, act }: CommentsProps) {
  const { id: postId } = post;
  const { data, error, reload } = useLive(() => control.comments(postId), {
    key: postId,
    concerns: touches("postId", postId),
  });
  const [answering, answer] = useState<string>();
  const actHere: Acts["act"] = async (doing, ofBot) => {
    await act(doing, ofBot);
    await reload();
  };
  return (
    <section class="comments" aria-label={`Comments on ${postId}`}>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data?.items.length === 0 && <p class="hint">No comments yet. Be the first.</p>}
      <ul>
        {threaded(data?.items ?? []).map(({ comment, depth }) => (
          <CommentItem
            key={comment.id}
            comment={comment}
            depth={depth}
            answering={answering === comment.id}
            onAnswer={answer}
            act={actHere}
          />
        ))}
      </ul>
      {writing !== undefined && (
        <Composer
          key={writing}
          label={labelOf(writing, postId, bot)}
          send={writing === "mention" ? "Mention" : "Comment"}
          from={person.value}
          wanted
          onCancel={onWritten}
          onSend={async (draft) => {
            const to = writing === "mention" ? { to: bot.username } : {};
            await actHere({ type: writing, postId, ...to, ...draft }, post.author.isBot);
            onWritten();
          }}
        />
      )}
    </section>
  );
}

function labelOf(writing: "comment" | "mention", postId: string, { username }: Profile): string {
  const what = writing === "mention" ? `Mention @${username} in a comment` : "Comment";
  return `${what} on ${postId} as @${person.value}`;
}
