import { useEffect, useId, useState } from "preact/hooks";
import type { ControlPost, Profile } from "../../../types.ts";
import { Composer } from "../../content/composer.tsx";
import { OutcomeLine } from "../../content/outcome.tsx";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { attempt } from "../../parts/toast.tsx";
import { type Asked, useActs } from "./acts.ts";
import { Comments } from "./comments.tsx";
import { ContentBody } from "./content-body.tsx";
import { PostActions } from "./post-actions.tsx";
import { Quoted } from "./quoted.tsx";

export interface PostCardProps {
  readonly post: ControlPost;
  /** The post that it quotes, if it is at hand. */
  readonly quoted: ControlPost | undefined;
  readonly bot: Profile;
  readonly asked: Asked | undefined;
  readonly onAsk: (what: Asked | undefined) => void;
  /** After it or something of it was changed from here. */
  readonly changed: () => Promise<void>;
  /** Whether its comments are shown from the beginning. */
  readonly opened?: boolean;
  /** Where it is in the feed, from 1 up, and whether Tab stops there. */
  readonly position?: number;
}

/** A post with what can be done with it. */
export function PostCard(props: PostCardProps) {
  const { post, bot, asked, onAsk, changed } = props;
  const [opened, open] = useState(props.opened === true);
  const { outcome, act } = useActs(changed);
  const head = useId();
  const ofBot = post.author.isBot;
  const from = person.value;
  const toComments = asked === "comment" || asked === "mention";
  useEffect(() => {
    if (asked !== "repost" && asked !== "like") return;
    onAsk(undefined);
    void attempt(() => act({ type: asked, postId: post.id }, ofBot));
  }, [asked]);
  // The composer that has the focus goes away: the post gets it.
  const written = () => {
    document.getElementById(cardId(post.id))?.focus();
    if (toComments) open(true);
    onAsk(undefined);
  };
  return (
    <article
      id={cardId(post.id)}
      class="card post drop-zone"
      aria-labelledby={head}
      aria-posinset={props.position}
      aria-setsize={props.position === undefined ? undefined : -1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: in a feed each article can have the focus, and keys act on it
      tabIndex={0}
    >
      <ContentBody content={post} headId={head} href={addressOf("posts", post.id)} />
      {post.quotedPostId !== null && <Quoted id={post.quotedPostId} known={props.quoted} />}
      <PostActions
        post={post}
        bot={bot}
        opened={opened || toComments}
        onOpen={() => {
          open(!(opened || toComments));
          if (toComments) onAsk(undefined);
        }}
        onAsk={onAsk}
        act={act}
      />
      <OutcomeLine outcome={outcome} />
      {asked === "quote" && (
        <Composer
          label={`Quote ${post.id} as @${from}`}
          send="Quote"
          from={from}
          wanted
          onCancel={written}
          onSend={async (draft) => {
            await act({ type: "quote", postId: post.id, ...draft }, ofBot);
            written();
          }}
        />
      )}
      {(opened || toComments) && (
        <Comments
          post={post}
          bot={bot}
          writing={toComments ? asked : undefined}
          onWritten={written}
          act={act}
        />
      )}
    </article>
  );
}

/** The id of a post's element. */
export function cardId(postId: string): string {
  return `post-${postId}`;
}
