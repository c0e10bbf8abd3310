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
import { Entry } from "./entry.tsx";
import { threaded } from "./threads.ts";

type Act = Omit<ActInput, "from">;

/** Shows a note if no bot gets an event. */
async function act(input: Act): Promise<void> {
  const { events } = await control.act({ ...input, from: person.value });
  if (events.length === 0)
    say("Done. No event was created, because the action does not affect a bot.");
}

export interface PostsProps {
  readonly bot: Profile;
  /** The post to show, or `undefined` for all posts. */
  readonly postId: string | undefined;
}

export function Posts({ bot, postId }: PostsProps) {
  const live = usePages(postId === undefined ? recentPosts : () => onePost(postId), {
    key: postId ?? "",
    concerns: touches("postId", postId),
  });
  return (
    <section class="pane posts" aria-label="Posts">
      <PaneHead title="Posts">
        <Action small run={() => act({ type: "follow", to: bot.username })}>
          Follow @{bot.username}
        </Action>
      </PaneHead>
      {postId === undefined ? (
        <Composer
          label={`New post as @${person.value}`}
          send="Post"
          placeholder={`New post. Write @${bot.username} to mention the bot.`}
          from={person.value}
          onSend={(content) => act({ type: "post", ...content })}
        />
      ) : (
        <a href="#/chat/posts">All posts</a>
      )}
      <Loaded live={live}>
        {(posts) => posts.map((post) => <Post key={post.id} post={post} bot={bot} />)}
      </Loaded>
      {live.data?.length === 0 && <Empty title="No posts yet" />}
      {live.more !== undefined && <Action run={live.more}>Show older</Action>}
    </section>
  );
}

function recentPosts(cursor?: string): Promise<Page<ControlPost>> {
  return control.posts({ limit: 20, cursor });
}

async function onePost(id: string): Promise<Page<ControlPost>> {
  return { items: [await control.post(id)], nextCursor: null };
}

interface Writing {
  readonly act: Act;
  readonly label: string;
}

function Post({ post, bot }: { readonly post: ControlPost; readonly bot: Profile }) {
  const { id, author, quotedPostId } = post;
  const [writing, setWriting] = useState<Writing>();
  const comments = useLive(() => control.comments(id), {
    key: id,
    concerns: touches("postId", id),
  });
  return (
    <article
      class="card post drop-zone"
      id={`post-${id}`}
      aria-label={`Post by @${author.username}`}
    >
      <Entry of={post} href={addressOf("chat", id)} />
      {quotedPostId !== null && <Quoted id={quotedPostId} />}
      <Acts of={post} onWrite={setWriting} />
      {comments.error !== undefined && <Failure error={comments.error} retry={comments.reload} />}
      <ul class="comments">
        {threaded(comments.data ?? []).map(({ comment, depth }) => (
          <li key={comment.id} class="comment" style={{ "--depth": String(depth) }}>
            <Entry of={comment} />
            <Acts of={comment} onWrite={setWriting} />
          </li>
        ))}
      </ul>
      {writing !== undefined && (
        <Composer
          key={writing.label}
          label={`${writing.label} as @${person.value}`}
          send="Send"
          placeholder={`Write @${bot.username} to mention the bot`}
          from={person.value}
          onCancel={() => setWriting(undefined)}
          onSend={async (content) => {
            await act({ ...writing.act, ...content });
            setWriting(undefined);
          }}
        />
      )}
    </article>
  );
}

/** Type, label, and the field that contains the count. */
const postActs = [
  ["comment", "Comment", "comments"],
  ["like", "Like", "likes"],
  ["repost", "Repost", "reposts"],
  ["quote", "Quote", "quotes"],
] as const;

interface ActsProps {
  readonly of: ControlPost | ControlComment;
  readonly onWrite: (writing: Writing) => void;
}

/** Actions that need a text open the composer. */
function Acts({ of, onWrite }: ActsProps) {
  const { id } = of;
  if (of.type === "post") {
    return (
      <div class="row post-actions">
        {postActs.map(([type, label, counted]) => (
          <Action
            key={type}
            tone="quiet"
            small
            title={label}
            label={`${label} ${of[counted]}`}
            run={() =>
              type === "comment" || type === "quote"
                ? onWrite({ act: { type, postId: id }, label: `${label} on ${id}` })
                : act({ type, postId: id })
            }
          >
            <Icon name={type} /> {of[counted]}
          </Action>
        ))}
      </div>
    );
  }
  const name = `comment ${id} by @${of.author.username}`;
  const reply: Writing = { act: { type: "reply", commentId: id }, label: `Reply to ${name}` };
  return (
    <div class="row post-actions">
      <Action tone="quiet" small label={reply.label} run={() => onWrite(reply)}>
        Reply
      </Action>
      <Action
        tone="quiet"
        small
        label={`Like ${name}`}
        run={() => act({ type: "like", commentId: id })}
      >
        Like
      </Action>
    </div>
  );
}

function Quoted({ id }: { readonly id: string }) {
  const live = useLive(() => control.post(id), { key: id, concerns: () => false });
  return (
    <blockquote class="note" aria-label="Quoted post">
      <Loaded live={live}>{(post) => <Entry of={post} href={addressOf("chat", id)} />}</Loaded>
    </blockquote>
  );
}
