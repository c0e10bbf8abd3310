import type { ControlPost, Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Composer } from "../../content/composer.tsx";
import { person } from "../../live/settings.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { usePages } from "../../live/use-pages.ts";
import { Empty, Failure, Loaded } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { act } from "./acts.ts";
import { Post } from "./post.tsx";

export interface PostsProps {
  readonly bot: Profile;
  /** One post, or the feed. */
  readonly postId: string | undefined;
  readonly wanted: boolean;
  readonly onFocused: () => void;
}

/** The posts of people and bots, with their comments. */
export function Posts({ bot, postId, wanted, onFocused }: PostsProps) {
  return (
    <section class="pane posts" aria-label="Posts">
      <header class="pane-head">
        <a class="back" href="#/chat/list" aria-label="Conversations">
          <Icon name="back" />
        </a>
        <h2>Posts and mentions</h2>
        <Action small run={() => act({ type: "follow", to: bot.username })}>
          Follow @{bot.username}
        </Action>
      </header>
      {postId === undefined ? (
        <>
          <Composer
            label={`New post as @${person.value}`}
            send="Post"
            placeholder={`New post. @${bot.username} in it mentions the bot.`}
            from={person.value}
            wanted={wanted}
            onFocused={onFocused}
            onSend={(draft) => act({ type: "post", ...draft })}
          />
          <Feed bot={bot} />
        </>
      ) : (
        <OnePost key={postId} id={postId} bot={bot} />
      )}
    </section>
  );
}

function Feed({ bot }: { readonly bot: Profile }) {
  const { data, error, reload, more, loadMore } = usePages(control.posts, {
    key: "posts",
    concerns: touches("postId"),
  });
  return (
    <>
      {error !== undefined && <Failure error={error} retry={reload} />}
      {data?.length === 0 && <Empty title="No posts yet" />}
      {data?.map((post) => (
        <Post key={post.id} post={post} bot={bot} />
      ))}
      {more && <Action run={loadMore}>Show older</Action>}
    </>
  );
}

function OnePost({ id, bot }: { readonly id: string; readonly bot: Profile }) {
  const live = useLive<ControlPost>(() => control.post(id), {
    key: id,
    concerns: touches("postId", id),
  });
  return (
    <>
      <a href="#/chat/posts">All posts</a>
      <Loaded live={live}>{(post) => <Post post={post} bot={bot} />}</Loaded>
    </>
  );
}
