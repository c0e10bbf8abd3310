import { List } from "../../parts/list.tsx";
import { stateItem, timerItems, useStates, useTimers } from "../state/lists.tsx";

export interface ConversationDataProps {
  /** The conversation's lane: `dm:<conversation>`. */
  readonly of: string;
}

/** Renders nothing if the bot does not serve its inbox. */
export function ConversationData({ of }: ConversationDataProps) {
  const timers = useTimers(of).data ?? [];
  const found = useStates(of).data ?? [];
  // The prefix also matches longer conversation ids.
  const states = found.filter(({ key }) => !/^\w/.test(key.slice(of.length)));
  if (states.length + timers.length === 0) return null;
  return (
    <section class="stack" aria-label="State and timers">
      <h2>State and timers</h2>
      <List items={[...states.map((state) => stateItem(state, true)), ...timerItems(timers)]} />
    </section>
  );
}
