import type { AuthorView } from "../../../types.ts";
import { BotLabel } from "../../parts/bits.tsx";
import { OWN } from "./places.ts";

export interface PaneHeadProps {
  readonly id: string;
  readonly members: readonly AuthorView[];
  readonly group: boolean;
  readonly onClose: (() => void) | undefined;
}

/** Who talks here. */
export function PaneHead({ id, members, group, onClose }: PaneHeadProps) {
  const names = members.map(({ username }) => `@${username}`).join(", ");
  return (
    <header class="pane-head">
      <a class="back" href="#/chat">
        ← Conversations
      </a>
      <h2>
        {members.length === 0 && id}
        {members.map(({ username, name, isBot }) => (
          <span key={username} title={name}>
            @{username} {isBot && <BotLabel />}
          </span>
        ))}
      </h2>
      {group && <span class="badge plain">group</span>}
      {id !== OWN && <code class="hint">{id}</code>}
      {onClose !== undefined && (
        <button type="button" class="quiet small" aria-label={`Close ${names}`} onClick={onClose}>
          ✕
        </button>
      )}
    </header>
  );
}
