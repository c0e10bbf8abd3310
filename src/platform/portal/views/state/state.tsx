import { useShownApp } from "../../live/shown-app.tsx";
import { usePeople } from "../../live/use-people.ts";
import { Failure } from "../../parts/bits.tsx";
import { Blocks } from "./blocks.tsx";
import { Bots } from "./bots.tsx";
import { Groups } from "./groups.tsx";
import { People } from "./people.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Tokens } from "./tokens.tsx";
import { Whole } from "./whole.tsx";

/** Who lives on the platform, what the bots are let do, and the whole of it: kept, put back, taken elsewhere. */
export function State() {
  const { apps = [], app, error, reload } = useShownApp();
  const { people, ...read } = usePeople();
  const bots = apps.map(({ bot }) => bot.username);
  const failed = error ?? read.error;
  return (
    <>
      <h1>State</h1>
      {failed !== undefined && (
        <Failure error={failed} retry={() => Promise.all([reload(), read.reload()])} />
      )}
      <div class="columns">
        <Bots apps={apps} shown={app} reload={reload} />
        {app !== undefined && <Tokens key={app.bot.username} app={app} reload={reload} />}
        <Snapshots />
        <Whole />
        <People people={people} reload={read.reload} />
        <Blocks people={people} bots={bots} shown={app} />
        <Groups people={people} bots={bots} reload={read.reload} />
      </div>
    </>
  );
}
