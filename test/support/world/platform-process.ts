import { controlClient } from "../../faces/cli.ts";
import { CLI } from "../../faces/files.ts";
import type {
  EntryOf,
  RemoteControl,
  TimelineEntry,
  TimelineRecord,
} from "../../faces/platform.ts";
import { first } from "../first.ts";
import { TestProcess } from "../process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { answersTo, type PlatformAccess } from "./bot-process.ts";

/** All platform processes share these, so that one bot can work with several platforms. */
const SECRET = "whsec_of_a_platform_process";
const API_KEY = "sbk_of_a_platform_process";

export interface Written {
  readonly eventId: string;
  readonly conversationId: string;
  readonly text: string;
}

/** The local platform, started with the command line in a separate process. */
export class PlatformProcess implements PlatformAccess {
  readonly url: string;
  readonly apiKey: string = API_KEY;
  readonly webhookSecret: string = SECRET;
  readonly control: RemoteControl;
  readonly #written: Written[] = [];
  #entries: TimelineEntry[] = [];

  private constructor(url: string, controlToken: string) {
    this.url = url;
    this.control = controlClient(url, { controlToken });
  }

  /**
   * @param options.flags flags for `service-bot platform`, which override the usual ones
   * @param options.trusted certificate file of an additional authority that the platform's https client trusts
   */
  static async start(
    options: { readonly flags?: readonly string[]; readonly trusted?: string | undefined } = {},
  ): Promise<PlatformProcess> {
    const { flags = [], trusted } = options;
    const usual = ["--retry-interval", "150", "--disable-after", "10000"];
    const args = ["platform", "--port", "0", "--json", ...usual, ...flags];
    const running = new TestProcess([CLI, ...args], {
      bareEnv: true,
      cwd: temporaryFolder(),
      env: {
        SERVICE_API_KEY: API_KEY,
        SERVICE_WEBHOOK_SECRET: SECRET,
        ...(trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: trusted }),
      },
    });
    const { url, controlToken } = JSON.parse(await running.line((line) => line.startsWith("{")));
    return new PlatformProcess(url, controlToken);
  }

  /** Saves the webhook as the owner does in the portal. Saving enables the webhook and resets its failure count. */
  async deliverTo(origin: string): Promise<void> {
    await this.control.saveWebhook({ url: `${origin}/webhook` });
  }

  async write(from: string, text: string): Promise<Written> {
    const { events, conversationId = "" } = await this.control.act({
      type: "dm.message",
      from,
      text,
    });
    const written = { eventId: first(events).id, conversationId, text };
    this.#written.push(written);
    return written;
  }

  /** Resolves to the first matching entry in the timeline. Waits for one if necessary. */
  async happens<K extends TimelineRecord["kind"]>(
    kind: K,
    fits: (entry: EntryOf<K>) => boolean = () => true,
    after = 0,
  ): Promise<EntryOf<K>> {
    const matches = (entry: TimelineEntry): entry is EntryOf<K> =>
      entry.seq > after && entry.kind === kind && fits(entry as EntryOf<K>);
    for (;;) {
      const found = this.#entries.find(matches);
      if (found !== undefined) return found;
      await this.#readTimeline(5_000);
    }
  }

  /** Resolves to the first attempt to deliver this event, optionally with this status. `null` means no response. */
  async delivery(
    { eventId }: Pick<Written, "eventId">,
    status?: number | null,
  ): Promise<EntryOf<"delivery">> {
    return await this.happens(
      "delivery",
      (entry) =>
        entry.eventIds.includes(eventId) && (status === undefined || entry.status === status),
    );
  }

  /** Waits until the bot has sent this text. */
  async says(text: string): Promise<void> {
    await this.happens("api", (entry) => entry.text === text && entry.status === 201);
  }

  /** Waits for the second of the two replies. */
  async answered({ text, conversationId }: Written): Promise<void> {
    const [, second] = answersTo(text);
    await this.happens(
      "api",
      (entry) => entry.text === second && entry.created?.conversationId === conversationId,
    );
  }

  /** Lists the bot's messages in one conversation, or in every conversation to which a test wrote. */
  async answers(...conversations: readonly string[]): Promise<string[]> {
    const all = this.#written.map(({ conversationId }) => conversationId);
    const ids = new Set(conversations.length === 0 ? all : conversations);
    const messages = await Promise.all([...ids].map((id) => this.control.messages(id)));
    return messages
      .flat()
      .filter(({ fromBot }) => fromBot)
      .map(({ text }) => text);
  }

  async #readTimeline(waitMs: number): Promise<void> {
    const { entries } = await this.control.timeline(this.#entries.at(-1)?.seq ?? 0, waitMs);
    this.#entries = [...this.#entries, ...entries];
  }
}
