/** User and group of both images. */
export const imageUser = 995;

/** The part of an image's configuration that says how it runs (image-spec, config.md). */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir: string;
  readonly Volumes?: Readonly<Record<string, object>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly StopSignal: NodeJS.Signals;
  readonly Labels: Readonly<Record<string, string>>;
  /** Docker reads it, in nanoseconds. The format of OCI has no health check, so Podman ignores it. */
  readonly Healthcheck: {
    readonly Test: readonly string[];
    readonly Interval: number;
    readonly Timeout: number;
    readonly StartPeriod: number;
    readonly Retries: number;
  };
}

/** An image: the layers that both have, and one of its own. */
export interface Recipe {
  readonly name: string;
  readonly config: ImageConfig;
  /** Packages of Debian in its own layer. */
  readonly packages: readonly string[];
  /** Files of the package of dropcast in its own layer. */
  readonly ofPackage?: RegExp;
  readonly files: readonly { readonly path: string; readonly content: string; readonly mode?: number }[];
  /** Links by their places, and where they lead. */
  readonly links: Readonly<Record<string, string>>;
  /** Directories with their modes. Those of the user of the image. */
  readonly ownDirectories: Readonly<Record<string, number>>;
}

/** Debian's packages that both images have: what Node is linked with, and who made it. */
export const libraries: readonly string[] = [
  'base-files',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
  'libatomic1',
  'gcc-14-base',
];
const shell = ['bash', 'libtinfo6'];
/** All packages that debian.lock.json has. */
export const debianNames: readonly string[] = [...libraries, ...shell];

/** Of a Debian package: libraries, programs, and what its licence asks for. */
export const debianFiles =
  /^(?:(?:bin|lib|lib64|sbin|etc\/os-release|etc\/debian_version|usr\/lib\/os-release|tmp\/)$|usr\/lib(?:64|\/[^/]+-linux-gnu)?\/[^/]+\.so(?:\.|$)|usr\/bin\/bash$|usr\/share\/common-licenses\/.|usr\/share\/doc\/[^/]+\/copyright$)/;

const HOME = 'usr/lib/dropcast';
const NODE = `/${HOME}/bin/node`;
/** Of the package of dropcast: Node, whose layer outlives a release, and the program. */
export const nodeFiles = new RegExp(`^${HOME}/bin/node$`);
export const programFiles = new RegExp(`^(?:${HOME}/(?!bin/).+|usr/share/doc/dropcast/copyright)$`);

const second = 1_000_000_000;
const accounts = {
  passwd: `root:x:0:0:root:/root:/usr/sbin/nologin\ndropcast:x:${imageUser}:${imageUser}::/var/lib/dropcast:/usr/sbin/nologin\n`,
  group: `root:x:0:\ndropcast:x:${imageUser}:\n`,
};
const system = [
  { path: 'etc/passwd', content: accounts.passwd },
  { path: 'etc/group', content: accounts.group },
  { path: 'etc/nsswitch.conf', content: 'passwd: files\ngroup: files\nhosts: files dns\n' },
];

/**
 * dropcast, as its unit starts it.
 *
 * @param healthcheck the program that asks for its health
 */
export function dropcastRecipe(healthcheck: string): Recipe {
  return {
    name: 'dropcast',
    packages: shell,
    ofPackage: /^usr\/bin\/dropcast$/,
    files: [...system, { path: `${HOME}/healthcheck`, content: healthcheck, mode: 0o755 }],
    links: { 'usr/bin/sh': 'bash' },
    ownDirectories: { 'var/lib/dropcast': 0o700, 'run/dropcast': 0o750 },
    config: {
      User: `${imageUser}:${imageUser}`,
      // What systemd sets for the service. `!credential NAME` reads /run/secrets/NAME. Docker does not say that this is a container.
      Env: [
        'PATH=/usr/bin',
        'container=oci',
        'DROPCAST_CONFIG=/etc/dropcast/dropcast.yaml',
        'STATE_DIRECTORY=/var/lib/dropcast',
        'RUNTIME_DIRECTORY=/run/dropcast',
        'CREDENTIALS_DIRECTORY=/run/secrets',
      ],
      Entrypoint: [
        NODE,
        '--jitless',
        '--disable-sigusr1',
        '--disallow-code-generation-from-strings',
        '--max-semi-space-size=8',
        '--heap-growing-percent=50',
        '--disable-warning=ExperimentalWarning',
        `/${HOME}/dist/main.js`,
      ],
      Cmd: ['run'],
      WorkingDir: '/var/lib/dropcast',
      Volumes: { '/var/lib/dropcast': {}, '/run/dropcast': {} },
      ExposedPorts: { '7878/tcp': {} },
      StopSignal: 'SIGTERM',
      Labels: labels('dropcast', 'Uploads the videos that appear in watched folders'),
      Healthcheck: {
        Test: ['CMD', `/${HOME}/healthcheck`],
        Interval: 30 * second,
        Timeout: 10 * second,
        StartPeriod: 60 * second,
        Retries: 3,
      },
    },
  };
}

/** The sandbox alone, without a shell: Node is its only program. */
export const sandboxRecipe: Recipe = {
  name: 'dropcast-sandbox',
  packages: [],
  files: system,
  links: {},
  ownDirectories: { data: 0o700 },
  config: {
    User: `${imageUser}:${imageUser}`,
    Env: ['HOME=/tmp'],
    // Nobody else reaches a container without --expose. More options follow as the command.
    Entrypoint: [
      NODE,
      '--max-semi-space-size=2',
      '--disable-warning=ExperimentalWarning',
      `/${HOME}/dist/main.js`,
      'sandbox',
      '--host',
      '0.0.0.0',
      '--expose',
    ],
    WorkingDir: '/tmp',
    ExposedPorts: { '8787/tcp': {} },
    StopSignal: 'SIGTERM',
    Labels: labels('dropcast sandbox', 'A video hosting service for trials and tests'),
    Healthcheck: {
      // With and without --tls. No spaces in the script, because the API of Podman splits words.
      Test: [
        'CMD',
        NODE,
        '-e',
        "require('net').connect(8787,'127.0.0.1').once('connect',()=>process.exit()).once('error',()=>process.exit(1))",
      ],
      Interval: 10 * second,
      Timeout: 5 * second,
      StartPeriod: 10 * second,
      Retries: 3,
    },
  },
};

function labels(title: string, description: string): Readonly<Record<string, string>> {
  return {
    'org.opencontainers.image.title': title,
    'org.opencontainers.image.description': description,
    'org.opencontainers.image.licenses': 'MIT',
  };
}
