import { useState } from "preact/hooks";
import type { ActInput, ControlComment, ControlPost, Page, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { addressOf } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { usePages } from "../../live/use-pages.ts";
import { Empty, Failure, Loaded } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/toast.tsx";
import { PaneHead } from "./conversation.tsx";
import { Entry, Head } from "./entry.tsx";
import { threaded } from "./threads.ts";

/** Lets the person act. Reports if no bot is concerned, because then there is no event. */
async function act(input: Omit<ActInput, "from">): Promise<void> {
  const { events } = await control.act({ ...input, from: person.value });
  if (events.length === 0) say("Done. It concerns no bot, so there is no event.");
}

export interface PostsProps {
  readonly bot: Profile;
  /** `undefined`: all posts. */
  readonly postId: string | undefined;
}

/** Posts of people and bots, with their comments. */
export function Posts({ bot, postId }: PostsProps) {
  const live = usePages(postId === undefined ? control.posts : () => onePost(postId), {
    key: postId ?? "",
    concerns: touches("postId", postId),
  });
  return (
    <section class="pane posts" aria-label="Posts">
      <PaneHead title="Posts and mentions">
        <Action small run={() => act({ type: "follow", to: bot.username })}>
          Follow @{bot.username}
        </Action>
      </PaneHead>
      {postId === undefined ? (
        <Composer
          label={`New post as @${person.value}`}
          send="Post"
          placeholder={`New post. @${bot.username} in it mentions the bot.`}
          from={person.value}
          onSend={(content) => act({ type: "post", ...content })}
        />
      ) : (
        <a href="#/chat/posts">All posts</a>
      )}
      <Loaded live={live}>
        {(posts) =>
          posts.length === 0 ? (
            <Empty title="No posts yet" />
          ) : (
            posts.map((post) => <Post key={post.id} post={post} bot={bot} />)
          )
        }
      </Loaded>
      {live.more && <Action run={live.loadMore}>Show older</Action>}
    </section>
  );
}

async function onePost(id: string): Promise<Page<ControlPost>> {
  return { items: [await control.post(id)], nextCursor: null };
}

interface PostProps {
  readonly post: ControlPost;
  readonly bot: Profile;
}

/** A text in the making: a comment on the post, a quote of the post, or a reply to a comment. */
type Writing = { readonly type: "comment" | "quote" | "reply"; readonly to?: ControlComment };

/** A post with its comments, and the acts of a person on it. */
function Post({ post, bot }: PostProps) {
  const { id: postId, author, createdAt, text, images, quotedPostId } = post;
  const [writing, setWriting] = useState<Writing>();
  const comments = useLive(() => control.comments(postId), {
    key: postId,
    concerns: touches("postId", postId),
  });
  const by = author.username;
  return (
    <article class="card post drop-zone" id={`post-${postId}`} aria-label={`Post of @${by}`}>
      <Entry
        {...{ id: postId, text, images, by }}
        head={<Head author={author} at={createdAt} href={addressOf("chat", postId)} />}
      />
      {quotedPostId !== null && <Quoted id={quotedPostId} />}
      <PostActions post={post} onWrite={(type) => setWriting({ type })} />
      {comments.error !== undefined && <Failure error={comments.error} retry={comments.reload} />}
      <ul class="comments">
        {threaded(comments.data?.items ?? []).map(({ comment, depth }) => (
          <li key={comment.id} class="comment" style={{ "--depth": String(depth) }}>
            <Comment comment={comment} onReply={() => setWriting({ type: "reply", to: comment })} />
          </li>
        ))}
      </ul>
      {writing !== undefined && (
        <Writer {...{ post, bot, writing }} onDone={() => setWriting(undefined)} />
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
  const actions = [
    ["comment", "Comment", comments],
    ["like", "Like", likes],
    ["repost", "Repost", reposts],
    ["quote", "Quote", quotes],
  ] as const;
  return (
    <div class="row post-actions">
      {actions.map(([type, label, count]) => (
        <Action
          key={type}
          tone="quiet"
          small
          run={() =>
            type === "comment" || type === "quote" ? onWrite(type) : act({ type, postId })
          }
        >
          <Icon name={type} /> {label} {count}
        </Action>
      ))}
    </div>
  );
}

interface CommentProps {
  readonly comment: ControlComment;
  readonly onReply: () => void;
}

function Comment({ comment, onReply }: CommentProps) {
  const { id: commentId, author, createdAt, text, images } = comment;
  const of = `comment ${commentId} of @${author.username}`;
  return (
    <>
      <Entry
        {...{ id: commentId, text, images, by: author.username }}
        head={<Head author={author} at={createdAt} />}
      />
      <div class="row post-actions">
        <Action tone="quiet" small label={`Reply to ${of}`} run={onReply}>
          Reply
        </Action>
        <Action
          tone="quiet"
          small
          label={`Like ${of}`}
          run={() => act({ type: "like", commentId })}
        >
          Like
        </Action>
      </div>
    </>
  );
}

const labels = { comment: "Comment on", quote: "Quote", reply: "Reply to" } as const;

interface WriterProps extends PostProps {
  readonly writing: Writing;
  readonly onDone: () => void;
}

function Writer({ post, bot, writing: { type, to }, onDone }: WriterProps) {
  return (
    <Composer
      key={`${type} ${to?.id}`}
      label={`${labels[type]} ${to === undefined ? post.id : `@${to.author.username}`} as @${person.value}`}
      send={labels[type].split(" ")[0] ?? ""}
      placeholder={`@${bot.username} mentions the bot`}
      from={person.value}
      onCancel={onDone}
      onSend={async (content) => {
        await act({
          type,
          ...(to === undefined ? { postId: post.id } : { commentId: to.id }),
          ...content,
        });
        onDone();
      }}
    />
  );
}

/** The post that another one quotes. */
function Quoted({ id }: { readonly id: string }) {
  const live = useLive(() => control.post(id), { key: id, concerns: () => false });
  return (
    <blockquote class="note" aria-label="Quoted post">
      <Loaded live={live}>
        {({ author, createdAt, text, images }) => (
          <Entry
            {...{ id, text, images, by: author.username }}
            head={<Head author={author} at={createdAt} href={addressOf("chat", id)} />}
          />
        )}
      </Loaded>
    </blockquote>
  );
}
