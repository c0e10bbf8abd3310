import { control } from "../api/control.ts";
import { createLive } from "./use-live.ts";

const reading = createLive(control.people, {
  concerns: ({ kind }) => kind === "event" || kind === "state",
});

/** Reads the users again after each event, because an action may create a user. */
export function usePeople() {
  const { data, error, reload } = reading.value;
  return { people: data ?? [], error, reload };
}
