import type { ControlConversation } from "../../../types.ts";
import { useKeys } from "../../keys/keys.ts";
import { person } from "../../live/settings.ts";
import { sorted } from "./conversation-list.tsx";
import { OWN, type Place, show } from "./places.ts";
import { rolesIn } from "./roles.ts";

export interface ChatKeysOptions {
  readonly places: readonly Place[];
  readonly conversations: readonly ControlConversation[];
  /** Gives the focus to the composer of a place, by what the place is named. */
  readonly focus: (named: string) => void;
  /** True while no conversation is named: on a phone the list is shown then. */
  readonly listed: boolean;
  readonly pick: () => void;
}

/** What is done often in the chat. The last place is the one that they change. */
export function useChatKeys({ places, conversations, focus, listed, pick }: ChatKeysOptions): void {
  const last = places.at(-1);
  const before = places.slice(0, -1).map(({ named }) => named);
  const write = () => {
    const roles = last?.conversation && rolesIn(last.conversation, "");
    const canWrite = last !== undefined && (roles === undefined || roles.from !== undefined);
    if (canWrite && !listed) return focus(last.named);
    show([...before, OWN]);
    focus(OWN);
  };
  const step = (by: number) => {
    const all = sorted(conversations, person.value);
    const next = all[all.findIndex(({ id }) => id === last?.id) + by];
    if (next !== undefined) show([...before, next.id]);
  };
  const group = "Chat";
  useKeys([
    { key: "n", label: "New message", group, run: write },
    { key: "p", label: "Pick a person, or make one", group, run: pick },
    { key: "j", label: "Next conversation", group, run: () => step(1) },
    { key: "k", label: "Previous conversation", group, run: () => step(-1) },
  ]);
}
