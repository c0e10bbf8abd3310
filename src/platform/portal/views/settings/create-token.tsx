import type { Scope } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { showSecret } from "../../parts/secrets.tsx";
import { scopes as scopeTexts } from "./names.ts";

const everyScope = scopeTexts.map(([scope]) => scope);

interface WantedToken {
  /** Default: every scope. */
  readonly scopes?: Scope[];
  readonly bot: string;
}

export async function createToken({
  scopes: wanted = everyScope,
  bot,
}: WantedToken): Promise<void> {
  const { apiKey, scopes: own } = await control.createToken(wanted, bot);
  showSecret({
    title: `New token for @${bot}`,
    env: { SERVICE_API_KEY: apiKey },
    note: (
      <p>
        Scopes: {own.join(", ") || "none"}. Other requests get 403 <code>AGENT_SCOPE_MISSING</code>.
        A bot started with <code>npm run dev</code> restarts with the new token automatically.
      </p>
    ),
  });
}
