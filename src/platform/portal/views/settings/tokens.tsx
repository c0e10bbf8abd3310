import { useState } from "preact/hooks";
import type { AppView, IssuedToken, Scope, TokenView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { useLive } from "../../live/use-live.ts";
import { Badge, Failure } from "../../parts/bits.tsx";
import { Confirmed } from "../../parts/confirm.tsx";
import { envLines } from "../../parts/env-lines.ts";
import { Checks } from "../../parts/fields.tsx";
import { Form } from "../../parts/form.tsx";
import { SecretDialog } from "../../parts/secrets.tsx";
import { inOrder, revokeWarning, scopes } from "./names.ts";

interface TokensProps {
  readonly app: AppView;
  readonly reload: () => Promise<void>;
}

const options = scopes.map(({ scope, text }) => ({ value: scope, hint: text }));

/** The tokens of the bot that is shown. */
export function Tokens({ app, reload }: TokensProps) {
  const { username } = app.bot;
  const live = useLive(control.tokens, {
    key: username,
    concerns: ({ kind }) => kind === "app" || kind === "state",
  });
  const [made, setMade] = useState<IssuedToken>();
  const [chosen, setChosen] = useState<readonly Scope[]>(scopes.map(({ scope }) => scope));
  const readAgain = () => Promise.all([live.reload(), reload()]);
  return (
    <section class="card" aria-labelledby="settings-tokens">
      <h2 id="settings-tokens">Tokens of @{username}</h2>
      {live.error !== undefined && <Failure error={live.error} retry={live.reload} />}
      <ul class="list">
        {live.data?.items.map((token) => (
          <Line key={token.id} token={token} app={app} readAgain={readAgain} />
        ))}
      </ul>
      <Form
        label="New token"
        submit="Create token"
        tone="plain"
        run={async () => {
          setMade(await control.createToken({ scopes: inOrder(chosen), bot: username }));
          await readAgain();
        }}
      >
        <fieldset>
          <legend>Scopes</legend>
          <Checks options={options} chosen={chosen} onChange={setChosen} />
        </fieldset>
      </Form>
      {made !== undefined && (
        <SecretDialog
          title={`New token of @${username}`}
          lines={envLines({ apiKey: made.apiKey })}
          onClose={() => setMade(undefined)}
        >
          <p>
            Scopes: {made.scopes.join(", ") || "none"}. Other requests get 403{" "}
            <code>AGENT_SCOPE_MISSING</code>.
          </p>
        </SecretDialog>
      )}
    </section>
  );
}

interface LineProps {
  readonly token: TokenView;
  readonly app: AppView;
  readonly readAgain: () => Promise<unknown>;
}

function Line({ token: { id, lastFour, scopes: own, standard }, app, readAgain }: LineProps) {
  return (
    <li>
      <span class="grow">
        <code>…{lastFour}</code> {standard && <Badge>standard</Badge>}{" "}
        <span class="hint">{own.join(", ") || "no scope"}</span>
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
          await readAgain();
        }}
      >
        <p>{revokeWarning(standard, app)} This cannot be undone.</p>
      </Confirmed>
    </li>
  );
}
