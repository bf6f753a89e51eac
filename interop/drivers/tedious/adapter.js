// Runs the steps that come on standard input through tedious and answers each
// with a line on standard output.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Connection, Request } from 'tedious';
import { cell, tediousType, toValue } from './values.js';

const env = process.env;

function config() {
  const encrypt = { plain: false, 'login only': false, encrypted: true, strict: 'strict' }[env.INTEROP_MODE];
  return {
    server: env.INTEROP_HOST,
    authentication: { type: 'default', options: { userName: env.INTEROP_USER, password: env.INTEROP_PASSWORD } },
    options: {
      port: Number(env.INTEROP_PORT),
      encrypt,
      trustServerCertificate: false,
      cryptoCredentialsDetails: encrypt ? { ca: readFileSync(env.INTEROP_CA) } : {},
      packetSize: 32767, // or 20 MB take half a minute
      requestTimeout: 0,
      useUTC: true,
    },
  };
}

function connect() {
  return new Promise((resolve, reject) => {
    const connection = new Connection(config());
    connection.on('error', () => {}); // requests fail with it too
    connection.connect((err) => (err ? reject(err) : resolve(connection)));
  });
}

// Messages that follow USE, a login or a failed statement and say nothing new.
const contextChanges = [5701, 5703, 3621];

const serverError = (e) => ({ number: e.number, level: e.class, state: e.state, message: e.message });

class Session {
  constructor(connection) {
    this.connection = connection;
    this.current = null;
    connection.on('infoMessage', (m) => {
      if (this.current && !contextChanges.includes(m.number)) this.current.messages.push(m.message);
    });
    connection.on('errorMessage', (m) => {
      if (this.current && !this.current.error) {
        this.current.error = serverError(m);
      }
    });
  }

  // request runs one request; start is called with it. A failure that the
  // server did not report is thrown.
  request(sql, start, prepare = () => {}) {
    const run = { sets: [], messages: [], outputs: {} };
    return new Promise((resolve, reject) => {
      const request = new Request(sql, (err, rowCount) => {
        this.current = null;
        run.rowCount = rowCount;
        if (err && !run.error) reject(err);
        else resolve(run);
      });
      this.listen(request, run);
      prepare(request);
      this.current = run;
      start(request);
    });
  }

  listen(request, run) {
    request.on('columnMetadata', (columns) => run.sets.push({ columns: columns.map((c) => c.colName), rows: [] }));
    request.on('row', (row) => run.sets.at(-1).rows.push(row.map((c) => cell(c.value, c.metadata))));
    request.on('returnValue', (name, value) => {
      run.outputs[name] = value === null ? null : String(value);
    });
    request.on('doneProc', (count, more, status) => {
      run.status = status;
    });
  }

  async batch(sql) {
    const run = await this.request(sql, (r) => this.connection.execSqlBatch(r));
    delete run.status;
    return [run];
  }

  async params(step) {
    const run = { sets: [], messages: [], outputs: {} };
    const runs = [];
    await new Promise((resolve, reject) => {
      const request = new Request(step.sql, (err, rowCount) => this.finished(err, rowCount));
      for (const p of step.params) {
        const [type, options] = tediousType(p.type);
        request.addParameter(p.name, type, null, options);
      }
      request.on('columnMetadata', (columns) =>
        this.current.sets.push({ columns: columns.map((c) => c.colName), rows: [] }));
      request.on('row', (row) => this.current.sets.at(-1).rows.push(row.map((c) => cell(c.value, c.metadata))));
      const execute = (i) => {
        request.error = undefined; // tedious keeps that of the last execution
        if (i === step.rows.length) {
          this.current = null;
          this.finished = (err) => (err ? reject(err) : resolve());
          this.connection.unprepare(request);
          return;
        }
        this.current = { sets: [], messages: [], outputs: {} };
        this.finished = (err, rowCount) => {
          const one = this.current;
          if (err && !one.error) {
            if (!err.number) return reject(err);
            one.error = serverError(err);
          }
          if (!one.error && one.sets.length === 0) one.affected = rowCount;
          runs.push(one);
          return execute(i + 1);
        };
        const values = Object.fromEntries(step.params.map((p, j) => [p.name, toValue(p.type, step.rows[i][j])]));
        this.connection.execute(request, values);
      };
      this.finished = (err) => (err ? reject(err) : undefined);
      request.on('prepared', () => execute(0));
      this.current = run;
      this.connection.prepare(request);
    });
    return runs;
  }

  transaction(method, name) {
    return new Promise((resolve, reject) => {
      this.connection[method]((err) => (err ? reject(err) : resolve([])), name);
    });
  }

  // cancelled runs a statement that interrupt ends.
  async cancelled(sql, code, interrupt) {
    try {
      await this.request(sql, (r) => {
        this.connection.execSqlBatch(r);
        interrupt(r);
      }, (r) => { if (code === 'ETIMEOUT') r.setTimeout(300); });
    } catch (err) {
      if (err.code === code) return [{ cancelled: true }];
      throw err;
    }
    throw new Error('the statement was not cancelled');
  }

  async kill(step) {
    const connection = await connect();
    const victim = new Session(connection);
    await victim.batch(step.sql);
    const running = victim.batch(step.then);
    connection.socket.destroy();
    try {
      await running;
    } catch {
      return [];
    }
    throw new Error('the statement of a cut connection succeeded');
  }

  async connects(times) {
    for (let i = 0; i < times; i++) {
      const connection = await connect();
      const ended = new Promise((resolve) => connection.on('end', resolve));
      connection.close();
      await ended;
    }
    return [];
  }

  bulk(step) {
    return new Promise((resolve, reject) => {
      const load = this.connection.newBulkLoad(step.name, (err, rowCount) =>
        (err ? reject(err) : resolve([{ affected: rowCount }])));
      for (const p of step.params) {
        const [type, options] = tediousType(p.type);
        load.addColumn(p.name, type, { ...options, nullable: true });
      }
      this.connection.execBulkLoad(load, step.rows.map((row) => row.map((v, i) => toValue(step.params[i].type, v))));
    });
  }

  async tvp(step) {
    const { TYPES } = await import('tedious');
    const table = {
      name: step.type.split('.').at(-1),
      schema: step.type.split('.')[0],
      columns: step.params.map((p) => {
        const [type, options] = tediousType(p.type);
        return { name: p.name, type, ...options };
      }),
      rows: step.rows.map((row) => row.map((v, i) => toValue(step.params[i].type, v))),
    };
    const run = await this.request(step.sql, (r) => this.connection.execSql(r),
      (r) => r.addParameter('rows', TYPES.TVP, table));
    delete run.status;
    return [run];
  }

  async call(step) {
    return [await this.request(step.name, (r) => this.connection.callProcedure(r), (r) => {
      step.params.forEach((p, i) => {
        const [type, options] = tediousType(p.type);
        const add = p.output ? 'addOutputParameter' : 'addParameter';
        r[add](p.name, type, toValue(p.type, step.rows[0][i]), options);
      });
    })];
  }

  run(step) {
    switch (step.op) {
      case 'batch': return this.batch(step.sql);
      case 'params': return this.params(step);
      case 'begin': return this.transaction('beginTransaction');
      case 'commit': return this.transaction('commitTransaction');
      case 'save': return this.transaction('saveTransaction', step.name);
      case 'rollback': return this.transaction('rollbackTransaction', step.name);
      case 'cancel': return this.cancelled(step.sql, 'ECANCEL', (r) => setTimeout(() => r.cancel(), 200));
      case 'timeout': return this.cancelled(step.sql, 'ETIMEOUT', () => {});
      case 'kill': return this.kill(step);
      case 'connects': return this.connects(step.times);
      case 'bulk': return this.bulk(step);
      case 'tvp': return this.tvp(step);
      case 'call': return this.call(step);
      default: throw new Error(`unknown command ${step.op}`);
    }
  }
}

const session = new Session(await connect());
for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = { runs: await session.run(JSON.parse(line)) };
  } catch (err) {
    answer = { refused: String(err.stack) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
session.connection.close();
