import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { answer, isCreate, loseAnswer, refusal } from '../../../e2e/answers.ts';
import { until } from '../../../support/until.ts';
import type { World } from '../../world/world.ts';
import type { Scenario } from '../scenario.ts';

/** The service fails, or its answers do. */
export const serviceScenarios = {
  'all is well': {
    world: { folder: { after_ready: { move: 'done' } } },
    play: async (world) => {
      for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await world.drop(name);
      await world.once();
    },
  },

  'the answer to an upload is lost': {
    play: async (world) => {
      world.service.faults.upload = onFirst((_, response) => loseAnswer(_, response));
      await world.drop('a.mpg');
      await world.once();
    },
  },

  'killed when the service has all bytes': {
    play: async (world) => {
      await world.drop('a.mpg');
      const process = world.start(['once']);
      world.service.faults.upload = onFirst((_, response) => killAtAnswer(response, () => process.send('SIGKILL')));
      await world.end(process);
      await world.once();
    },
  },

  'killed when the service has made the record': {
    play: async (world) => {
      await world.drop('a.mpg');
      const process = world.start(['once']);
      const kill = (): void => process.send('SIGKILL');
      world.service.faults.api = onFirst(
        (request, response) => isCreate(request) && killAtAnswer(response, kill),
        isCreate,
      );
      await world.end(process);
      await world.once();
    },
  },

  'the answer to a create request is lost': {
    play: async (world) => {
      world.service.addForeign('a');
      world.service.faults.api = onFirst((request, response) => loseAnswer(request, response), isCreate);
      await world.drop('a.mpg');
      await world.once();
    },
  },

  'an upload fails with 503 first': {
    play: async (world) => {
      world.service.faults.upload = onFirst((_, response) => refusal(response, 503, 'busy'));
      await world.drop('a.mpg', randomBytes(3_000_000));
      await world.once();
    },
  },

  'the upload host has other bytes than it was sent': {
    isHurried: true,
    world: { host: { resumable: 'tus' } },
    play: async (world) => {
      const bytes = randomBytes(24 * 1024 * 1024);
      let isBroken = false;
      world.service.faults.upload = (request, _, id) => {
        let received = 0;
        request.on('data', (part: Buffer) => {
          received += part.length;
          if (isBroken || received < bytes.length / 4) return;
          isBroken = true;
          request.socket.destroy();
          // More than has left this machine.
          const partial = world.service.host.partial.get(id);
          partial?.add(Buffer.alloc(bytes.length * 0.75 - partial.size), partial.size);
        });
        return false;
      };
      world.allow({ requestsPerVideo: 60 });
      await world.drop('a.mpg', bytes);
      await world.once();
    },
  },

  'an upload address dies': {
    isHurried: true,
    play: async (world) => {
      world.service.faults.upload = onFirst((_, response) => refusal(response, 404, 'expired'));
      // The service is polled during the minute before the record is replaced: more often on a busy machine.
      world.allow({ requestsPerVideo: 30 });
      await world.drop('a.mpg');
      await world.once();
    },
  },

  'the API is away for longer than all attempts': {
    world: { settings: { retry: { attempts: 1, first: '10ms', max: '30ms' } } },
    play: async (world) => {
      let count = 0;
      world.service.faults.api = (request) => {
        count += 1;
        if (count <= 8) request.socket.destroy();
        return count <= 8;
      };
      for (const name of ['a.mpg', 'b.mpg']) await world.drop(name);
      const daemon = await world.daemon();
      for (const name of ['a.mpg', 'b.mpg']) await world.reaches(name, 'done', 'failed');
      await world.stop(daemon);
    },
  },

  'only the upload host is away for longer than all attempts': {
    world: { settings: { retry: { attempts: 1, first: '10ms', max: '30ms' } } },
    play: async (world) => {
      let count = 0;
      world.service.faults.upload = (request) => {
        count += 1;
        if (count <= 3) request.socket.destroy();
        return count <= 3;
      };
      world.allow({ requestsPerVideo: 60 });
      await world.drop('a.mpg');
      const daemon = await world.daemon();
      await world.reaches('a.mpg', 'done', 'failed');
      await world.stop(daemon);
    },
  },

  'the list of videos fails': {
    play: async (world) => {
      world.service.faults.api = (request, response) =>
        request.method === 'GET' && /\/videos\?/.test(request.url ?? '') && refusal(response, 500, 'server_error');
      // One alone is always asked for by its id: all are in processing at the same moment, however busy the machine is.
      const sending = new Set<string>();
      const allSent = Promise.withResolvers<void>();
      world.service.faults.upload = async (_request, _response, id) => {
        if (sending.add(id).size === 3) allSent.resolve();
        await allSent.promise;
        return false;
      };
      for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await world.drop(name);
      const daemon = await world.daemon();
      for (const name of ['a.mpg', 'b.mpg', 'c.mpg']) await world.reaches(name, 'done', 'failed');
      await world.stop(daemon);
    },
  },

  'the service writes its status words with capitals': {
    play: async (world) => {
      world.service.faults.api = (request, response) => {
        const video = world.service.host.videos.get(/\/videos\/(\w+)$/.exec(request.url ?? '')?.[1] ?? '');
        if (request.method !== 'GET' || video === undefined) return false;
        return answer(response, 200, {
          id: video.id,
          status: video.status.replace(/^./, (first) => first.toUpperCase()),
        });
      };
      await world.drop('a.mpg');
      await upToTheEnd(world, 'a.mpg');
    },
  },

  'an upload is taken and never answered, and dropcast is stopped': {
    play: async (world) => {
      world.service.faults.upload = (request) => request.resume() !== null;
      await world.drop('a.mpg');
      const daemon = await world.daemon();
      await world.reaches('a.mpg', 'uploading');
      daemon.send('SIGTERM');
      await until('it is stopping', () => daemon.output().includes('Stopping'));
      await world.stop(daemon);
      world.service.faults.upload = null;
      await world.once();
    },
  },
} satisfies Record<string, Scenario>;

async function upToTheEnd(world: World, name: string): Promise<void> {
  const daemon = await world.daemon();
  await world.reaches(name, 'done', 'failed', 'held');
  await world.stop(daemon);
}

type Fault = NonNullable<World['service']['faults']['api']>;
type Arguments = Parameters<Fault>;

/** A fault of the first request that it is about. */
function onFirst(
  act: (request: Arguments[0], response: ServerResponse) => boolean,
  isMeant: (request: Arguments[0]) => boolean = () => true,
): (request: Arguments[0], response: ServerResponse) => boolean {
  let isOver = false;
  return (request, response) => {
    if (isOver || !isMeant(request)) return false;
    isOver = true;
    return act(request, response);
  };
}

/** Lets the service do its work; instead of the answer comes the end. */
function killAtAnswer(response: ServerResponse, kill: () => void): false {
  response.end = () => {
    kill();
    return response;
  };
  return false;
}
