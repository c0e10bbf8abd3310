import { useState } from "preact/hooks";
import type { AppView, IssuedToken, Scope, TokenView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Empty, Failure } from "../../parts/bits.tsx";
import { Confirmed } from "../../parts/confirm.tsx";
import { envLines } from "../../parts/env-lines.ts";
import { Checks } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { useListFocus } from "../../parts/list-focus.ts";
import { SecretDialog } from "../../parts/secrets.tsx";
import { inOrder, revokeWarning, scopes } from "./names.ts";

interface TokensProps {
  readonly app: AppView;
  readonly reload: () => Promise<void>;
}

/** The tokens of the bot that is looked at. */
export function Tokens({ app, reload }: TokensProps) {
  const { username } = app.bot;
  const live = useLive(control.tokens, {
    key: username,
    concerns: ({ kind }) => kind === "app" || kind === "state",
  });
  const tokens = live.data?.items ?? [];
  const heading = useListFocus<HTMLHeadingElement>(tokens.length);
  const [made, setMade] = useState<IssuedToken>();
  const readAnew = () => Promise.all([live.reload(), reload()]);
  return (
    <section class="card" aria-labelledby="state-tokens">
      <h2 id="state-tokens" ref={heading} tabIndex={-1}>
        Tokens of @{username}
      </h2>
      {live.error !== undefined && <Failure error={live.error} retry={live.reload} />}
      {live.data !== undefined && tokens.length === 0 && (
        <Empty title="No token">The bot can do nothing: make one below.</Empty>
      )}
      <ul class="list">
        {tokens.map((token) => (
          <Line key={token.id} token={token} app={app} readAnew={readAnew} />
        ))}
      </ul>
      <h3>New token</h3>
      <NewToken
        create={async (chosen) => {
          setMade(await control.createToken({ scopes: chosen, bot: username }));
          await readAnew();
        }}
      />
      {made !== undefined && (
        <SecretDialog
          title={`New token of @${username}`}
          lines={envLines({ apiKey: made.apiKey })}
          onClose={() => setMade(undefined)}
        >
          <p>
            It may: {made.scopes.join(", ") || "nothing, for it has no scope"}. What it may not is
            answered with 403 <code>AGENT_SCOPE_MISSING</code>.
          </p>
        </SecretDialog>
      )}
    </section>
  );
}

interface LineProps {
  readonly token: TokenView;
  readonly app: AppView;
  readonly readAnew: () => Promise<unknown>;
}

function Line({ token: { id, lastFour, scopes: own, standard }, app, readAnew }: LineProps) {
  return (
    <li>
      <span class="grow">
        <code>…{lastFour}</code> {standard && <Badge>standard</Badge>}{" "}
        <span class="hint">{own.length === 0 ? "no scope" : own.join(", ")}</span>
      </span>
      <Confirmed
        ask="Revoke…"
        label={`Revoke the token that ends in ${lastFour}`}
        title={`Revoke the token …${lastFour}?`}
        confirm="Revoke"
        small
        done={`The token …${lastFour} is revoked.`}
        run={async () => {
          await control.revokeToken(id);
          await readAnew();
        }}
      >
        <p>{revokeWarning(standard, app)} This cannot be undone.</p>
      </Confirmed>
    </li>
  );
}

const options = scopes.map(({ scope, text }) => ({ value: scope, hint: text }));

function NewToken({ create }: { readonly create: (scopes: Scope[]) => Promise<void> }) {
  const [chosen, setChosen] = useState<readonly Scope[]>(["read", "dm"]);
  return (
    <Form label="New token" submit="Make token" run={() => create(inOrder(chosen))}>
      <fieldset>
        <legend>Scopes of the new token</legend>
        <Checks options={options} chosen={chosen} onChange={setChosen} />
      </fieldset>
    </Form>
  );
}
