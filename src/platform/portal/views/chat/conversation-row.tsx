import type { ConversationItem } from "../../api/shapes.ts";
import { Avatar, Time } from "../../parts/bits.tsx";

export interface ConversationRowProps {
  readonly conversation: ConversationItem;
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
  const others = members.filter(({ username }) => username !== person);
  const shown = others.length === 0 ? members : others;
  const name = nameOf(conversation, person);
  return (
    <li class="conversation">
      <a href={href} aria-current={open ? "true" : undefined}>
        <Avatar username={shown[0]?.username ?? "?"} isBot={shown[0]?.isBot === true} />
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
          ⧉
        </button>
      )}
    </li>
  );
}

/** A conversation by those in it besides the one who speaks. */
function nameOf({ members }: Pick<ConversationItem, "members">, person: string): string {
  const others = members.filter(({ username }) => username !== person);
  return (others.length === 0 ? members : others).map(({ username }) => `@${username}`).join(", ");
}

function summary({ text, images }: ConversationItem["lastMessage"]): string {
  if (text !== "") return text;
  if (images === 0) return "deleted";
  return images === 1 ? "1 image" : `${images} images`;
}
