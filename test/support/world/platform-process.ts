import { controlClient } from "../../faces/cli.ts";
import { CLI } from "../../faces/files.ts";
import { TestProcess } from "../process.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { answersTo, type PlatformAccess } from "./bot-process.ts";
import { RemotePlatform, type Written } from "./remote-platform.ts";

/** All platform processes share these, so that a bot can be configured before its platform, or have several. */
export const SHARED_ACCESS = {
  SERVICE_API_KEY: "sbk_of_a_platform_process",
  SERVICE_WEBHOOK_SECRET: "whsec_of_a_platform_process",
} as const;

/** The local platform, started with the command line in a separate process. */
export class PlatformProcess extends RemotePlatform implements PlatformAccess {
  readonly url: string;
  readonly apiKey: string = SHARED_ACCESS.SERVICE_API_KEY;
  readonly webhookSecret: string = SHARED_ACCESS.SERVICE_WEBHOOK_SECRET;

  private constructor(url: string, controlToken: string) {
    super(controlClient(url, { controlToken }));
    this.url = url;
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
        ...SHARED_ACCESS,
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
}
