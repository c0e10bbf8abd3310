import { useEffect, useRef, useState } from "preact/hooks";
import type { Profile } from "../../../types.ts";
import { route } from "../../live/route.ts";
import { person } from "../../live/settings.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { Pane } from "./pane.tsx";
import { PersonDialog } from "./person-dialog.tsx";
import { between, idsIn, OWN, placesOf, show } from "./places.ts";
import { useChatKeys } from "./use-chat-keys.ts";
import { useConversations } from "./use-conversations.ts";

/** Talking to the bot as a person. */
export function Chat() {
  const { app } = useShownApp();
  return (
    <>
      <h1>Chat</h1>
      {app === undefined ? <p class="hint">Reading…</p> : <Talks bot={app.bot} />}
    </>
  );
}

function Talks({ bot }: { readonly bot: Profile }) {
  const { id } = route.value;
  const from = person.value;
  const conversations = useConversations(from);
  const all = conversations.data ?? [];
  const own = between(all, from, bot.username);
  const places = placesOf(idsIn(id), all, own);
  const [picking, setPicking] = useState(false);
  const [wanted, focus] = useState("");
  useFollowPerson(`${from} ${bot.username}`, () => {
    if (!places.some((place) => place.named === OWN || place.id === own?.id)) show([OWN]);
  });
  const pick = () => setPicking(true);
  useChatKeys({ places, conversations: all, focus, listed: id === "", pick });
  const named = places.map((place) => place.named);
  const close = (closed: number) => {
    const rest = named.filter((_, index) => index !== closed);
    show(rest);
    focus(rest.at(-1) ?? OWN);
  };
  return (
    <div class="chat" data-open={id !== ""}>
      <ConversationList
        conversations={conversations}
        bot={bot}
        own={own}
        places={places}
        onPick={pick}
        onBeside={(beside) => {
          show([...named, beside]);
          focus(beside);
        }}
      />
      <div class="panes">
        {places.map((place, index) => (
          <Pane
            key={place.named === OWN ? `${OWN} ${from} ${bot.username}` : place.named}
            place={place}
            bot={bot}
            wanted={place.named === wanted}
            onFocused={() => focus("")}
            onClose={places.length > 1 ? () => close(index) : undefined}
            onSent={conversations.reload}
          />
        ))}
      </div>
      {picking && (
        <PersonDialog
          onClose={() => setPicking(false)}
          onPicked={(username) => {
            setPicking(false);
            const theirs = between(all, username, bot.username)?.id;
            if (id === "") show([OWN]);
            focus(named.find((name) => name === OWN || name === theirs) ?? OWN);
          }}
        />
      )}
    </div>
  );
}

/** Somebody else speaks, or to another bot: their conversation is shown, unless it is. */
function useFollowPerson(who: string, follow: () => void): void {
  const before = useRef(who);
  useEffect(() => {
    if (before.current === who) return;
    before.current = who;
    follow();
  });
}
