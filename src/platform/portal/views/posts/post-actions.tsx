import type { ControlPost, Profile } from "../../../types.ts";
import { Action } from "../../parts/form.tsx";
import type { Acts, Asked } from "./acts.ts";

export interface PostActionsProps {
  readonly post: ControlPost;
  readonly bot: Profile;
  /** Whether the comments are shown. */
  readonly opened: boolean;
  readonly onOpen: () => void;
  readonly onAsk: (what: Asked) => void;
  readonly act: Acts["act"];
}

/** What the person who speaks can do with a post. */
export function PostActions({ post, bot, opened, onOpen, onAsk, act }: PostActionsProps) {
  const { id: postId, author } = post;
  return (
    <div class="row post-actions">
      <button type="button" class="quiet" aria-expanded={opened} onClick={onOpen}>
        Comments <span class="count">{post.comments}</span>
      </button>
      <button type="button" class="quiet" onClick={() => onAsk("comment")}>
        Comment
      </button>
      <button type="button" class="quiet" onClick={() => onAsk("mention")}>
        Mention @{bot.username}
      </button>
      <Action tone="quiet" run={() => act({ type: "like", postId }, author.isBot)}>
        Like <span class="count">{post.likes}</span>
      </Action>
      <Action tone="quiet" run={() => act({ type: "repost", postId }, author.isBot)}>
        Repost <span class="count">{post.reposts}</span>
      </Action>
      <button type="button" class="quiet" onClick={() => onAsk("quote")}>
        Quote <span class="count">{post.quotes}</span>
      </button>
    </div>
  );
}
