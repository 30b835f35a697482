import { z } from 'zod';

export interface PlayerSettings {
  readonly autoplay: boolean;
  readonly muted: boolean;
  readonly loop: boolean;
  readonly controls: boolean;
  /** `#rrggbb` */
  readonly accentColor: string;
}

/**
 * assumed: the specification does not show the structure of default_player_settings (api-spec section 2.2). The player
 * supports `autoplay`, `muted`, `loop` and `controls` (true or false) and `accent_color` (`#rrggbb`), and ignores other
 * settings.
 */
export function playerSettings(stored: Readonly<Record<string, unknown>>): PlayerSettings {
  const { accent_color: accentColor, ...switches } = knownSettings.parse(stored);
  return { ...switches, accentColor };
}

const knownSettings = z.object({
  autoplay: z.boolean().catch(false),
  muted: z.boolean().catch(false),
  loop: z.boolean().catch(false),
  controls: z.boolean().catch(true),
  accent_color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/i)
    .catch('#4f8cff'),
});
