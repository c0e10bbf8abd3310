import { useState } from "preact/hooks";
import type { ControlPost, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useKeys } from "../../keys/keys.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import type { Pages } from "../../live/use-pages.ts";
import { Empty, Failure } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import type { Asked } from "./acts.ts";
import { cardId, PostCard } from "./post-card.tsx";

export interface PostsShown {
  readonly posts: readonly ControlPost[];
  readonly bot: Profile;
  readonly changed: () => Promise<void>;
  /** Whether the comments are shown from the beginning. */
  readonly opened?: boolean;
}

/** The feed, as far as it was read. */
export function Feed({ feed, bot }: { readonly feed: Pages<ControlPost>; readonly bot: Profile }) {
  const { data, error, reload, more, loadMore } = feed;
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data === undefined && error === undefined && <p class="hint">Reading…</p>}
      {data?.length === 0 && (
        <Empty title="No posts yet">
          <p>Write the first one above. With @{bot.username} in it, the bot is told.</p>
        </Empty>
      )}
      <PostList posts={data ?? []} bot={bot} changed={reload} />
      {more && <Action run={loadMore}>More posts</Action>}
    </>
  );
}

/** One post with its comments. */
export function OnePost({ id, bot }: { readonly id: string; readonly bot: Profile }) {
  const { data, error, reload } = useLive(() => control.post(id), {
    key: id,
    concerns: touches("postId", id),
  });
  return (
    <>
      <p>
        <a href="#/posts">← All posts</a>
      </p>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data !== undefined && <PostList posts={[data]} bot={bot} changed={reload} opened />}
    </>
  );
}

function PostList({ posts, bot, changed, opened = false }: PostsShown) {
  const [asked, ask] = useState<{ postId: string; what: Asked }>();
  useFeedKeys(posts, (postId, what) => ask({ postId, what }));
  if (posts.length === 0) return null;
  return (
    <div role="feed" aria-label="Posts" class="feed">
      {posts.map((post, index) => (
        <PostCard
          key={post.id}
          post={post}
          quoted={posts.find(({ id }) => id === post.quotedPostId)}
          bot={bot}
          asked={asked?.postId === post.id ? asked.what : undefined}
          onAsk={(what) => ask(what === undefined ? undefined : { postId: post.id, what })}
          changed={changed}
          opened={opened}
          position={index + 1}
        />
      ))}
    </div>
  );
}

/** The keys act on the post that has the focus, else on the first one. */
function useFeedKeys(
  posts: readonly ControlPost[],
  ask: (postId: string, what: Asked) => void,
): void {
  const at = () => {
    const card = document.activeElement?.closest("article.post");
    return posts.findIndex(({ id }) => cardId(id) === card?.id);
  };
  const step = (by: number) => {
    const next = posts[at() === -1 ? 0 : at() + by];
    const card = next === undefined ? null : document.getElementById(cardId(next.id));
    card?.focus();
    card?.scrollIntoView({ block: "nearest" });
  };
  const onPost = (what: Asked) => () => {
    const post = posts[Math.max(0, at())];
    if (post !== undefined) ask(post.id, what);
  };
  const group = "Posts";
  useKeys([
    { key: "j", label: "Next post", group, run: () => step(1) },
    { key: "k", label: "Previous post", group, run: () => step(-1) },
    { key: "c", label: "Comment", group, run: onPost("comment") },
    { key: "l", label: "Like", group, run: onPost("like") },
    { key: "x", label: "Repost", group, run: onPost("repost") },
    { key: "q", label: "Quote", group, run: onPost("quote") },
  ]);
}
