import { useEffect, useState } from "preact/hooks";
import type { Profile } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { focusWanted } from "../../content/composer.tsx";
import { useKeys } from "../../keys/keys.ts";
import { go, route } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { useShownApp } from "../../live/shown-app.ts";
import { usePeople } from "../../live/use-people.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { AccountForm } from "../settings/account-form.tsx";
import { Activity, traced } from "./activity.tsx";
import { Conversation } from "./conversation.tsx";
import { Posts } from "./posts.tsx";
import { TalkList, useConversations } from "./talk-list.tsx";
import { between } from "./talks.ts";

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
  const [isCreating, setCreating] = useState(false);
  const isPosts = id === "posts" || id.startsWith("p_");
  const isOwn = id === "" || id === "list";
  const all = conversations.data ?? [];
  const conversation = isOwn
    ? between(all, person.value, bot.username)
    : all.find((each) => each.id === id);
  const open = isPosts ? "posts" : isOwn ? conversation?.id : id;
  useEffect(() => {
    traced.value = undefined;
  }, [open, id]);
  useTalkKeys(people, () => setCreating(true));
  return (
    <div
      class={`chat ${id === "list" ? "listed" : ""} ${traced.value === undefined ? "" : "traced"}`}
    >
      <TalkList
        conversations={conversations}
        people={people}
        bot={bot}
        open={open}
        onNew={() => setCreating(true)}
      />
      {isPosts ? (
        <Posts bot={bot} postId={id === "posts" ? undefined : id} />
      ) : (
        <Conversation
          key={isOwn ? `own ${person.value} ${bot.username}` : id}
          id={open}
          bot={bot}
          conversation={conversation}
        />
      )}
      <Activity of={open} />
      {isCreating && (
        <Dialog title="New person" onClose={() => setCreating(false)}>
          <AccountForm
            kind="person"
            create={async (account) => {
              speakAs((await control.createPerson(account)).username);
              setCreating(false);
              focusWanted.value = true;
            }}
          />
        </Dialog>
      )}
    </div>
  );
}

function speakAs(username: string): void {
  person.value = username;
  go("chat");
}

function useTalkKeys(people: readonly Profile[], create: () => void): void {
  const step = (by: number) => {
    const at = people.findIndex(({ username }) => username === person.value);
    const next = people[at + by];
    if (next !== undefined) speakAs(next.username);
  };
  const write = () => {
    focusWanted.value = true;
  };
  const group = "Chat";
  useKeys([
    { key: "n", label: "Write", group, run: write },
    { key: "p", label: "New person", group, run: create },
    { key: "j", label: "Next person", group, run: () => step(1) },
    { key: "k", label: "Previous person", group, run: () => step(-1) },
  ]);
}
