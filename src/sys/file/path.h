#pragma once

/*
 * Paths of files and sockets that a privileged process writes, creates, renames or removes, or reads for a service.
 *
 * Another user may change where a path leads, from the first directory on that another user than root,
 * ours and the owner of "/" can rename a name in.  Up to there symbolic links are followed; from there
 * on a link is refused, and so is "..".  A directory that a group may write to can be changed by others;
 * with the sticky bit, the directories of root and of ours in it cannot, unless they are mount points.
 */

#include "sys/file/mount.h"

/* The first directory on a path in which another user may rename the next entry; @at is "": there is none. */
struct path_doubt {
	char at[PATH_MAX];
	uid_t uid;
	gid_t gid;
	mode_t mode;
};

/* The last directory of a path, and the name in it. */
struct path {
	int directory; /* O_PATH; -1: not found */
	struct stat st;
	uid_t ours, top; /* trusted, beside root */
	char name[NAME_MAX + 1];
	struct path_doubt doubt;
};

enum path_make { PATH_FIND, PATH_MAKE };

/*
 * Walks along @text to its last name, which need not exist and is not followed.  With PATH_MAKE makes
 * the missing directories, with mode 0755.
 *
 * Return: 0; -ELOOP: a link that another user may change, or "..", or too many links; -EISDIR: there is
 * no last name; -ENOTDIR, -errno.  *ret is to be released by path_done() in any case.
 */
int path_find(struct path *ret, const char *text, enum path_make make);
void path_done(struct path *path);

/* Returns true if the directory that the path ends in is root's or ours, and no other user may write to it. */
bool path_is_ours(const struct path *path);

/*
 * Opens the regular file of this name in the directory of @path: never a link, another type of file
 * or, where another user may change the name, a file that has a second name or, in a directory that
 * every user may write to, belongs to another user.  The opened file is checked again.
 * With O_NONBLOCK a FIFO or a device is opened, too.
 *
 * Return: CLOEXEC; -EISDIR; -ENOTSUP: a FIFO, a socket or a device; -ELOOP; -EMLINK: a second name;
 * -EUSERS: the owner; -errno.
 */
int path_open_in(const struct path *path, const char *name, int flags, mode_t mode);

/*
 * The file at @text in the same way, with O_CREAT also the directories in front of it; a link that no other
 * user may change is followed.
 */
int path_open(const char *text, int flags, mode_t mode);

enum path_rename { PATH_REPLACE, PATH_KEEP };

/* Renames a file in the directory of @path.  Return: 0; -EEXIST: PATH_KEEP, and @to exists; -errno. */
int path_rename_in(const struct path *path, const char *from, const char *to, enum path_rename how);

/* Removes a file in the directory of @path.  Return: 0 or -errno. */
int path_unlink_in(const struct path *path, const char *name);

/* The same for the file at @text, which is not followed. */
int path_unlink(const char *text);

/* Makes the directory at @text with @mode; its parent must exist.  Return: 0; -EEXIST; as path_find(). */
int path_make_directory(const char *text, mode_t mode);

/*
 * Makes a directory at @text, and those in front of it, for @uid and @gid with @mode; -1: as it is.  A link that
 * no other user may change is followed.  A directory that exists gets these as well, but of another user not if the
 * name may be changed.  Return: 0; -ENOTDIR; -EUSERS; as path_find().
 */
int path_give_directory(const char *text, mode_t mode, uid_t uid, gid_t gid);

/*
 * Removes the directory at @text, which may be missing, with all that is in it, and follows no link.  A mount
 * point in it stays.  Return: 0; -EBUSY; -ENOTDIR; -errno.
 */
int path_remove_tree(const char *text);

/* Removes the empty directory at @text.  Return: 0 or -errno. */
int path_remove_directory(const char *text);

/*
 * Returns the error with which path_open() or, with O_PATH, path_find() would refuse @text, for a
 * process of @uid; 0: it would not, or this process may not look.  Creates nothing.  *doubt is filled if
 * it is refused.
 */
int path_refusal(const char *text, int flags, uid_t uid, struct path_doubt *doubt);

/* Returns the reason in words why a file cannot be written; @error is an errno, as above or of a write. */
const char *path_error_text(int error);
