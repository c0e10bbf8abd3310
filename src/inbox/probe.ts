/** What can be told of the place of an inbox before a bot uses it. */
export interface InboxProbe {
  /** False where the bot makes it at its first start. */
  readonly exists: boolean;
  /** True when a bot has it open now. */
  readonly served: boolean;
}
