import { useState } from "preact/hooks";
import type { Profile } from "../../../types.ts";
import { useKeys } from "../../keys/keys.ts";
import { go, route } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { usePeople } from "../../live/use-people.ts";
import { Effects } from "./effects.tsx";
import { Pane } from "./pane.tsx";
import { PersonDialog } from "./person-dialog.tsx";
import { Posts } from "./posts.tsx";
import { TalkList } from "./talk-list.tsx";
import { between, useConversations } from "./talks.ts";

/** Conversations and posts, with what they cause in the bot. */
export function Chat() {
  const { app } = useShownApp();
  return (
    <>
      <h1 class="visually-hidden">Chat</h1>
      {app === undefined ? <p class="hint">Loading…</p> : <Talks bot={app.bot} />}
    </>
  );
}

function Talks({ bot }: { readonly bot: Profile }) {
  const { id } = route.value;
  const conversations = useConversations(person.value);
  const { people } = usePeople();
  const all = conversations.data ?? [];
  const own = between(all, person.value, bot.username);
  const isPosts = id === "posts" || id.startsWith("p_");
  const isOwn = id === "" || id === "list";
  const openId = isOwn ? own?.id : id;
  const conversation = all.find((each) => each.id === openId);
  const [picking, setPicking] = useState(false);
  const [wanted, setWanted] = useState(false);
  const pick = (username: string) => {
    person.value = username;
    setPicking(false);
    go("chat");
    setWanted(true);
  };
  useTalkKeys({
    write: () => setWanted(true),
    pick: () => setPicking(true),
    people: people.map(({ username }) => username),
    choose: (username) => {
      person.value = username;
      go("chat");
    },
  });
  const focus = { wanted, onFocused: () => setWanted(false) };
  return (
    <div class={id === "list" ? "chat listed" : "chat"}>
      <TalkList
        {...{ conversations, people, bot, isPosts }}
        open={openId}
        onNew={() => setPicking(true)}
      />
      {isPosts ? (
        <Posts bot={bot} postId={id === "posts" ? undefined : id} {...focus} />
      ) : (
        <Pane
          key={isOwn ? `own ${person.value} ${bot.username}` : id}
          {...{ bot, conversation, ...focus }}
          id={openId}
          onSent={conversations.reload}
        />
      )}
      <Effects of={isPosts ? "posts" : openId} />
      {picking && <PersonDialog onClose={() => setPicking(false)} onPicked={pick} />}
    </div>
  );
}

interface TalkKeys {
  readonly write: () => void;
  readonly pick: () => void;
  readonly people: readonly string[];
  readonly choose: (username: string) => void;
}

function useTalkKeys({ write, pick, people, choose }: TalkKeys): void {
  const step = (by: number) => {
    const next = people[people.indexOf(person.value) + by];
    if (next !== undefined) choose(next);
  };
  const group = "Chat";
  useKeys([
    { key: "n", label: "Write", group, run: write },
    { key: "p", label: "New person", group, run: pick },
    { key: "j", label: "Next person", group, run: () => step(1) },
    { key: "k", label: "Previous person", group, run: () => step(-1) },
  ]);
}
