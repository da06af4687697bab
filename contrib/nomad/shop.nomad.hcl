# A job whose one task is a tree of services: the image of ../container/Containerfile.tree.
# Its README.md says why each line is here.
job "shop" {
  type = "service"

  group "shop" {
    network {
      port "http" {
        to = 80
      }
    }

    task "tree" {
      driver = "docker"

      config {
        image           = "shop:1"
        ports           = ["http"]
        readonly_rootfs = true

        # For the control socket, and what nginx and redis write to.
        mount {
          type   = "tmpfs"
          target = "/run"
        }
        mount {
          type   = "tmpfs"
          target = "/var/lib/nginx"
        }
        mount {
          type   = "tmpfs"
          target = "/var/log/nginx"
        }
        mount {
          type   = "tmpfs"
          target = "/var/lib/redis"
        }
      }

      kill_signal  = "SIGTERM"
      kill_timeout = "25s"

      env {
        # The same again: swansongd keeps a shutdown within it.
        SWANSONG_GRACE = "25s"
      }

      service {
        name     = "shop"
        provider = "consul"
        port     = "http"

        check {
          name     = "tree"
          type     = "script"
          command  = "/bin/sh"
          args     = ["-c", "swansongctl health -q || exit 2"]
          interval = "5s"
          timeout  = "2s"
        }
      }

      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
