import { StateItem, TimerItems, useStates, useTimers } from "../state/lists.tsx";

export interface KeptProps {
  /** The lane of a conversation: `dm:<conversation>`. */
  readonly of: string;
}

/** States and timers of a conversation. A bot that does not serve its inbox shows none. */
export function Kept({ of }: KeptProps) {
  const timers = useTimers(of).data ?? [];
  const found = useStates(of).data ?? [];
  // The key of another conversation may begin with the same characters.
  const states = found.filter(({ key }) => !/^\w/.test(key.slice(of.length)));
  if (states.length + timers.length === 0) return null;
  return (
    <section class="stack" aria-label="State and timers">
      <h2>State and timers</h2>
      <ul class="list">
        {states.map((state) => (
          <StateItem key={state.key} state={state} isOpen />
        ))}
        <TimerItems timers={timers} />
      </ul>
    </section>
  );
}
