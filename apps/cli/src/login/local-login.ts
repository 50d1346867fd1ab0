import { readCredentials, writeCredentials, type Login } from "./credentials.js";

const LOCAL_LOGIN = "local";

/**
 * Makes a platform on this machine the current login, so that the other commands find it.
 * @returns gives the place back to the login that another local platform had; the last one stays, so that the commands
 * can say how to start it again
 */
export const saveLocalLogin = (credentialsFile: string, login: Login): (() => void) => {
  const { current, logins } = readCredentials(credentialsFile);
  const before = logins[LOCAL_LOGIN];
  writeCredentials(credentialsFile, { current: LOCAL_LOGIN, logins: { ...logins, [LOCAL_LOGIN]: login } });
  return () => {
    const now = readCredentials(credentialsFile);
    const isOurs = now.logins[LOCAL_LOGIN]?.endpoint === login.endpoint;
    if (!isOurs || before === undefined || before.endpoint === login.endpoint) return;
    const wasCurrent = now.current === LOCAL_LOGIN ? current : now.current;
    writeCredentials(credentialsFile, {
      logins: { ...now.logins, [LOCAL_LOGIN]: before },
      ...(wasCurrent === undefined ? {} : { current: wasCurrent }),
    });
  };
};
