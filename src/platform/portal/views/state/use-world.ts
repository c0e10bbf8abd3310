import { control } from "../../api/control.ts";
import type { Profile } from "../../api/shapes.ts";
import { useLive } from "../../live/use-live.ts";

/** Everybody but the bots. People come into being by what they do, too. */
export function useWorld() {
  const { data, error, reload } = useLive(control.people, {
    key: "people",
    concerns: ({ kind }) => kind === "event" || kind === "state",
  });
  const people: readonly Profile[] = data?.items ?? [];
  return { people, error, reload };
}
