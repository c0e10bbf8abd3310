import { useId, useState } from "preact/hooks";
import type { ControlConversation, Profile } from "../../../types.ts";
import { person } from "../../live/settings.ts";
import type { Pages } from "../../live/use-pages.ts";
import { Avatar, Failure } from "../../parts/bits.tsx";
import { Action } from "../../parts/form.tsx";
import { ConversationRow } from "./conversation-row.tsx";
import { addressOfAll, has, MAX_PANES, OWN, type Place } from "./places.ts";

export interface ConversationListProps {
  readonly conversations: Pages<ControlConversation>;
  readonly bot: Profile;
  readonly own: ControlConversation | undefined;
  readonly places: readonly Place[];
  readonly onPick: () => void;
  readonly onBeside: (id: string) => void;
}

/** The conversations: those of the person who speaks first. */
export function ConversationList(props: ConversationListProps) {
  const { conversations, bot, own, places, onPick, onBeside } = props;
  const [filter, setFilter] = useState("");
  const from = person.value;
  const found = sorted(conversations.data ?? [], from).filter((each) => matches(each, filter));
  const isMine = ({ members }: ControlConversation) => has(members, from);
  return (
    <section class="conversations" aria-label="Conversations">
      <div class="row">
        <button type="button" onClick={onPick} aria-keyshortcuts="p">
          Person: @{from} <kbd>p</kbd>
        </button>
      </div>
      <input
        type="search"
        placeholder="Filter by name or text"
        aria-label="Filter conversations"
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      {conversations.error !== undefined && (
        <Failure error={conversations.error} retry={conversations.reload} />
      )}
      <Group title={`Of @${from}`} items={found.filter(isMine)} places={places} onBeside={onBeside}>
        {own === undefined && filter === "" && (
          <li class="conversation">
            <a href={addressOfAll([OWN])} aria-current={isOpen(places, OWN) ? "true" : undefined}>
              <Avatar username={bot.username} isBot />
              <span class="conversation-text">
                <strong>@{bot.username}</strong>
                <span class="hint">New conversation: just write</span>
              </span>
            </a>
          </li>
        )}
      </Group>
      <Group
        title="Of others"
        items={found.filter((each) => !isMine(each))}
        places={places}
        onBeside={onBeside}
      />
      {filter !== "" && found.length === 0 && <p class="hint">Nothing matches “{filter}”.</p>}
      {conversations.more && <Action run={conversations.loadMore}>More conversations</Action>}
    </section>
  );
}

/** In the order of the list. */
export function sorted(
  all: readonly ControlConversation[],
  from: string,
): readonly ControlConversation[] {
  const mine = all.filter(({ members }) => has(members, from));
  return [...mine, ...all.filter((each) => !mine.includes(each))];
}

function matches({ members, lastMessage }: ControlConversation, filter: string): boolean {
  const names = members.flatMap(({ username, name }) => [`@${username}`, name]);
  return [...names, lastMessage.text].some((text) =>
    text.toLowerCase().includes(filter.trim().toLowerCase()),
  );
}

interface GroupProps {
  readonly title: string;
  readonly items: readonly ControlConversation[];
  readonly places: readonly Place[];
  readonly onBeside: (id: string) => void;
  readonly children?: preact.ComponentChildren;
}

function Group({ title, items, places, onBeside, children }: GroupProps) {
  const heading = useId();
  if (items.length === 0 && !children) return null;
  const open = places.map(({ named }) => named);
  return (
    <>
      <h2 id={heading} class="list-title">
        {title}
      </h2>
      <ul aria-labelledby={heading}>
        {children}
        {items.map((item) => (
          <ConversationRow
            key={item.id}
            conversation={item}
            person={person.value}
            // In the place of the last one that is open.
            href={addressOfAll(isOpen(places, item.id) ? open : [...open.slice(0, -1), item.id])}
            open={isOpen(places, item.id)}
            onBeside={places.length < MAX_PANES ? () => onBeside(item.id) : undefined}
          />
        ))}
      </ul>
    </>
  );
}

function isOpen(places: readonly Place[], id: string): boolean {
  return places.some((place) => place.id === id);
}
