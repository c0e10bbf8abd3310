import { useState } from "preact/hooks";
import type { Profile } from "../../../types.ts";
import { Composer } from "../../content/composer.tsx";
import { OutcomeLine } from "../../content/outcome.tsx";
import { useKeys } from "../../keys/keys.ts";
import { route } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { Action } from "../../parts/form.tsx";
import { useActs } from "./acts.ts";
import { Feed, OnePost } from "./feed.tsx";
import { useFeed } from "./use-feed.ts";

/** What people and bots post, and what people do with it. */
export function Posts() {
  const bot = useShownApp().app?.bot;
  const { id } = route.value;
  return (
    <div class="posts">
      <Head bot={bot} />
      {bot === undefined && <p class="hint">Reading…</p>}
      {bot !== undefined && id === "" && <AllPosts bot={bot} />}
      {bot !== undefined && id !== "" && <OnePost key={id} id={id} bot={bot} />}
    </div>
  );
}

function Head({ bot }: { readonly bot: Profile | undefined }) {
  const { outcome, act } = useActs(() => {});
  return (
    <header class="posts-head">
      <h1>Posts</h1>
      {bot !== undefined && (
        <Action run={() => act({ type: "follow", to: bot.username })}>
          Follow @{bot.username} as @{person.value}
        </Action>
      )}
      <OutcomeLine outcome={outcome} />
    </header>
  );
}

function AllPosts({ bot }: { readonly bot: Profile }) {
  const feed = useFeed();
  const { outcome, act } = useActs(feed.reload);
  const [wanted, want] = useState(false);
  useKeys([{ key: "n", label: "New post", group: "Posts", run: () => want(true) }]);
  return (
    <>
      <section class="card drop-zone" aria-label="New post">
        <Composer
          label={`New post as @${person.value}`}
          send="Post"
          placeholder={`What is new? @${bot.username} mentions the bot`}
          from={person.value}
          wanted={wanted}
          onFocused={() => want(false)}
          onSend={(draft) => act({ type: "post", ...draft })}
        />
        <OutcomeLine outcome={outcome} />
      </section>
      <Feed feed={feed} bot={bot} />
    </>
  );
}
