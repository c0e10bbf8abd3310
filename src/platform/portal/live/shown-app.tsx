import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AppView } from "../../types.ts";
import { control } from "../api/control.ts";
import { bot } from "./settings.ts";
import { type Live, useLive } from "./use-live.ts";

export interface ShownApp {
  /** All apps; undefined until they were read. */
  readonly apps: readonly AppView[] | undefined;
  /** The one that is looked at. */
  readonly app: AppView | undefined;
  readonly error: Error | undefined;
  readonly reload: () => Promise<void>;
}

type Apps = Awaited<ReturnType<typeof control.apps>>;

const Reading = createContext<Live<Apps> | undefined>(undefined);

/** Reads the apps for all that is in it. */
export function WithApps({ children }: { readonly children: ComponentChildren }) {
  const apps = useLive(control.apps, {
    key: "apps",
    concerns: ({ kind }) => kind !== "event" && kind !== "api" && kind !== "fault",
  });
  return <Reading.Provider value={apps}>{children}</Reading.Provider>;
}

/** The app that is looked at, among the others. */
export function useShownApp(): ShownApp {
  const reading = useContext(Reading);
  if (reading === undefined) throw new Error("useShownApp() is for what is in <WithApps>");
  const { data, error, reload } = reading;
  const apps = data?.items;
  const app = apps?.find((each) => each.bot.username === bot.value) ?? apps?.[0];
  return { apps, app, error, reload };
}

/** Looks at another bot; the first one has no name of its own in the settings. */
export function lookAt(username: string, apps: readonly AppView[]): void {
  bot.value = username === apps[0]?.bot.username ? "" : username;
}
