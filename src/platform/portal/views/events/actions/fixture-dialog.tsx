import { control } from "../../../api/control.ts";
import { useLive } from "../../../live/use-live.ts";
import { Code, save } from "../../../parts/bits.tsx";
import { useCopy } from "../../../parts/copy-text.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Action } from "../../../parts/form.tsx";
import { Loaded } from "../details/loaded.tsx";
import { type Fixture, fixtureOf, type Recorded } from "../fixture.ts";

export interface FixtureProps {
  readonly recorded: Recorded;
  readonly onClose: () => void;
}

/** A test of the bot, made from what happened. */
export function FixtureDialog({ recorded, onClose }: FixtureProps) {
  const live = useLive(() => make(recorded), { key: "fixture", concerns: () => false });
  return (
    <Dialog title="A test fixture" onClose={onClose} wide>
      <Loaded live={live}>{(fixture) => <Made fixture={fixture} />}</Loaded>
    </Dialog>
  );
}

async function make({ event, calls, handled }: Recorded): Promise<Fixture> {
  if (!handled) return fixtureOf(event);
  return fixtureOf(event, await Promise.all(calls.map(({ id }) => control.call(id))));
}

function Made({ fixture: { name, text } }: { readonly fixture: Fixture }) {
  const { copy, byHand } = useCopy("The test");
  return (
    <>
      <p>
        Save it as <code>test/{name}</code> of a bot from the template “starter”, and run it:{" "}
        <code>npm test</code>. It needs neither a platform nor a network.
      </p>
      <Code text={text} label="The test" />
      <div class="row">
        <Action run={() => copy(text, "The test is copied.")} tone="primary">
          Copy
        </Action>
        <Action run={() => save(name, new Blob([text], { type: "text/plain" }))}>
          Save as a file
        </Action>
      </div>
      {byHand}
    </>
  );
}
