import { control } from "../api/control.ts";
import { createLive } from "./use-live.ts";

const reading = createLive(control.people, {
  concerns: ({ kind }) => kind === "event" || kind === "state",
});

/** Reads all people, without bots. Reloads after events because an action may create a person. */
export function usePeople() {
  const { data, error, reload } = reading.value;
  return { people: data?.items ?? [], error, reload };
}
