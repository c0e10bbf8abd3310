import { useState } from "preact/hooks";
import type {
  AuthorView,
  ControlComment,
  ControlPost,
  ImageView,
  Profile,
} from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { Images } from "../../content/images.tsx";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { Avatar, BotLabel, Failure, Time } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { act } from "./acts.ts";
import { threaded } from "./threads.ts";

/** A text that is being written: a comment on the post, a quote of it, or a reply to a comment. */
type Writing =
  | { readonly type: "comment" | "quote" }
  | { readonly type: "reply"; readonly to: ControlComment };

/** A post with its comments, and what a person can do with it. */
export function Post({ post, bot }: { readonly post: ControlPost; readonly bot: Profile }) {
  const { id: postId } = post;
  const [writing, setWriting] = useState<Writing>();
  const comments = useLive(() => control.comments(postId), {
    key: postId,
    concerns: touches("postId", postId),
  });
  return (
    <article
      class="card post drop-zone"
      id={`post-${postId}`}
      aria-label={`Post of @${post.author.username}`}
    >
      <Content content={post} href={addressOf("chat", postId)} />
      {post.quotedPostId !== null && <Quoted id={post.quotedPostId} />}
      <PostActions post={post} onWrite={(type) => setWriting({ type })} />
      {comments.error !== undefined && <Failure error={comments.error} retry={comments.reload} />}
      <ul class="comments">
        {threaded(comments.data?.items ?? []).map(({ comment, depth }) => (
          <li key={comment.id} class="comment" style={{ "--depth": String(depth) }}>
            <Content content={comment} />
            <CommentActions
              comment={comment}
              onReply={() => setWriting({ type: "reply", to: comment })}
            />
          </li>
        ))}
      </ul>
      {writing !== undefined && (
        <Writer
          {...{ post, bot, writing }}
          onDone={async () => {
            setWriting(undefined);
            await comments.reload();
          }}
        />
      )}
    </article>
  );
}

interface PostActionsProps {
  readonly post: ControlPost;
  readonly onWrite: (type: "comment" | "quote") => void;
}

function PostActions({ post, onWrite }: PostActionsProps) {
  const { id: postId, comments, likes, reposts, quotes } = post;
  return (
    <div class="row post-actions">
      <button type="button" class="quiet small" onClick={() => onWrite("comment")}>
        <Icon name="comment" /> Comment {comments}
      </button>
      <Action tone="quiet" small run={() => act({ type: "like", postId })}>
        <Icon name="like" /> Like {likes}
      </Action>
      <Action tone="quiet" small run={() => act({ type: "repost", postId })}>
        <Icon name="repost" /> Repost {reposts}
      </Action>
      <button type="button" class="quiet small" onClick={() => onWrite("quote")}>
        <Icon name="quote" /> Quote {quotes}
      </button>
    </div>
  );
}

interface CommentActionsProps {
  readonly comment: ControlComment;
  readonly onReply: () => void;
}

function CommentActions({ comment: { id: commentId, author }, onReply }: CommentActionsProps) {
  const of = `comment ${commentId} of @${author.username}`;
  return (
    <div class="row post-actions">
      <button type="button" class="quiet small" aria-label={`Reply to ${of}`} onClick={onReply}>
        Reply
      </button>
      <Action tone="quiet" small label={`Like ${of}`} run={() => act({ type: "like", commentId })}>
        Like
      </Action>
    </div>
  );
}

interface WriterProps {
  readonly post: ControlPost;
  readonly bot: Profile;
  readonly writing: Writing;
  readonly onDone: () => Promise<void>;
}

function Writer({ post, bot, writing, onDone }: WriterProps) {
  const { type } = writing;
  const reply = type === "reply" ? writing.to : undefined;
  const whom = reply === undefined ? post.id : `@${reply.author.username}`;
  const target = reply === undefined ? { postId: post.id } : { commentId: reply.id };
  return (
    <Composer
      key={`${type} ${reply?.id}`}
      label={`${labels[type]} ${whom} as @${person.value}`}
      send={labels[type].split(" ")[0] ?? ""}
      placeholder={`@${bot.username} mentions the bot`}
      from={person.value}
      wanted
      onCancel={() => void onDone()}
      onSend={async (draft) => {
        await act({ type, ...target, ...draft });
        await onDone();
      }}
    />
  );
}

const labels = { comment: "Comment on", quote: "Quote", reply: "Reply to" } as const;

interface ContentProps {
  readonly content: {
    readonly text: string;
    readonly images: readonly ImageView[];
    readonly author: AuthorView;
    readonly createdAt: string;
  };
  readonly href?: string;
}

/** Author, time, text and images of a post or a comment. */
function Content({ content: { text, images, author, createdAt }, href }: ContentProps) {
  const { username, name, isBot } = author;
  return (
    <>
      <p class="row">
        <Avatar username={username} isBot={isBot} />
        <strong>{name}</strong> <span class="hint">@{username}</span> {isBot && <BotLabel />}
        {href === undefined ? (
          <Time at={createdAt} />
        ) : (
          <a class="plain" href={href}>
            <Time at={createdAt} />
          </a>
        )}
      </p>
      {text !== "" && <p class="text">{text}</p>}
      <Images images={images} by={username} />
    </>
  );
}

/** The post that another one quotes. */
function Quoted({ id }: { readonly id: string }) {
  const { data, error } = useLive(() => control.post(id), { key: id, concerns: () => false });
  return (
    <blockquote class="note" aria-label="Quoted post">
      {error !== undefined && <Failure error={error} />}
      {data !== undefined && <Content content={data} href={addressOf("chat", id)} />}
    </blockquote>
  );
}
