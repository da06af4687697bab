# A job whose one task is a tree of services: the image of ../container/Containerfile.tree.
# README.md explains each line.
job "shop" {
  type = "service"

  # A task is replaced when the check of its successor passes.
  update {
    max_parallel     = 1
    canary           = 1
    auto_promote     = true
    health_check     = "checks"
    min_healthy_time = "5s"
  }

  group "shop" {
    count = 2

    network {
      port "http" {
        to = 80
      }
      port "swansong" {
        to = 9633
      }
    }

    task "tree" {
      driver = "docker"

      config {
        image           = "shop:1"
        ports           = ["http", "swansong"]
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

      # From the removal of the service to the signal.
      shutdown_delay = "5s"
      kill_signal    = "SIGTERM"
      kill_timeout   = "25s"

      env {
        # The same time as kill_timeout: swansongd makes the budgets of its shutdown fit.
        SWANSONG_GRACE = "25s"
      }

      service {
        name     = "shop"
        provider = "nomad"
        port     = "http"

        # Of swansong-exporter: 200 when all that is meant to run is ready and healthy.
        check {
          name     = "tree"
          type     = "http"
          port     = "swansong"
          path     = "/readyz"
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
