import type { AuthorView, ControlConversation } from "../../../types.ts";
import { Avatar, Time } from "../../parts/bits.tsx";

export interface ConversationRowProps {
  readonly conversation: ControlConversation;
  readonly person: string;
  /** Where it is open: the address that shows it alone. */
  readonly href: string;
  readonly open: boolean;
  /** Undefined where there is no room beside the others. */
  readonly onBeside: (() => void) | undefined;
}

/** A conversation in the list. */
export function ConversationRow(props: ConversationRowProps) {
  const { conversation, person, href, open, onBeside } = props;
  const { lastMessage, lastMessageAt, members } = conversation;
  const [first] = shownOf(members, person);
  const name = nameOf(conversation, person);
  return (
    <li class="conversation">
      <a href={href} aria-current={open ? "true" : undefined}>
        <Avatar username={first?.username ?? "?"} isBot={first?.isBot === true} />
        <span class="conversation-text">
          <span class="conversation-head">
            <strong>{name}</strong> <Time at={lastMessageAt} />
          </span>
          <span class="hint">
            @{lastMessage.authorUsername}: {summary(lastMessage)}
          </span>
        </span>
      </a>
      {!open && onBeside !== undefined && (
        <button
          type="button"
          class="quiet small beside"
          aria-label={`Open beside: ${name}`}
          title="Open beside"
          onClick={onBeside}
        >
          +
        </button>
      )}
    </li>
  );
}

/** A conversation by those in it besides the one who speaks. */
function nameOf({ group, members }: ControlConversation, person: string): string {
  const names = shownOf(members, person).map(({ username }) => `@${username}`);
  return `${names.join(", ")}${group ? " (group)" : ""}`;
}

/** People first. */
function shownOf(members: readonly AuthorView[], person: string): readonly AuthorView[] {
  const others = members.filter(({ username }) => username !== person);
  return others.toSorted((one, other) => Number(one.isBot) - Number(other.isBot));
}

function summary({ text, images }: ControlConversation["lastMessage"]): string {
  if (text !== "") return text;
  if (images === 0) return "deleted";
  return images === 1 ? "1 image" : `${images} images`;
}
